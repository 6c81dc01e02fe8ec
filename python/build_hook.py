"""Puts the library, the programs and what they need into the wheel: the folder HONE_NATIVE, under
the platform HONE_PLATFORM (scripts/wheel sets both)."""
import os

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class NativeHook(BuildHookInterface):
    """hatchling's hook of a wheel."""

    PLUGIN_NAME = "custom"

    def initialize(self, version, build_data):
        """Without a folder the package is Python alone, and finds an installed library."""
        folder = os.environ.get("HONE_NATIVE")
        if not folder:
            return
        build_data["force_include"][folder] = "hone/_native"
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{os.environ['HONE_PLATFORM']}"
