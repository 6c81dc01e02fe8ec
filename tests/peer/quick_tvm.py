"""Makes the import of TVM take seconds; to be imported before it.

TVM reads its intrinsics as scripts, and for each asks `inspect` for the stack. Frames that have no
file ("<frozen importlib>", "<ast>") make `inspect` look through every module that is loaded: minutes
where torch is among them, which TVM loads when it finds it.
"""
import inspect

module_of = inspect.getmodule


def getmodule(thing, _filename=None):
    if inspect.isframe(thing) and thing.f_code.co_filename.startswith("<"):
        return None
    return module_of(thing, _filename)


inspect.getmodule = getmodule
