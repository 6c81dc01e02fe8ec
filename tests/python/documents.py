#!/usr/bin/env python3
"""usage: documents.py FILE…: runs the examples of documents, each as one session of a file of its
own, so that programs in it can be read; what is printed must be what stands there."""
import doctest
import importlib.util
import linecache
import sys


class Runner(doctest.DocTestRunner):
    """Keeps the lines of examples where inspect finds them."""

    def run(self, test, **words):
        lines = {}
        for number, example in enumerate(test.examples):
            lines[f"<doctest {test.name}[{number}]>"] = example.source.splitlines(True)
        linecache.cache.update({name: (sum(map(len, text)), None, text, name)
                                for name, text in lines.items()})
        return super().run(test, **words)


def check(path):
    """The failures among the examples of a file."""
    with open(path, encoding="utf-8") as source:
        text = source.read()
    name = "hone_document"
    spec = importlib.util.spec_from_loader(name, None)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    module.__dict__["__name__"] = name
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    # a fence ends what is expected
    text = text.replace("\n```", "\n\n```")
    test = doctest.DocTestParser().get_doctest(text, module.__dict__, path.rpartition("/")[2], path, 0)
    result = Runner(optionflags=flags).run(test)
    print(f"{path}: {result.attempted} examples, {result.failed} failures")
    return result.failed if result.attempted else 1


if __name__ == "__main__":
    sys.exit(1 if sum(map(check, sys.argv[1:])) else 0)
