"""The headers of the packed field as a Conan 2 package: conan create packed"""

import os

from conan import ConanFile
from conan.tools.files import copy


class WiregaugePacked(ConanFile):
    name = "wiregauge-packed"
    version = "0.1.0"
    description = "The packed field of OSI messages, as C++17 headers without dependencies"
    license = "Apache-2.0"
    url = "https://github.com/wiregauge/wiregauge"
    topics = ("osi", "lidar", "radar", "simulation", "header-only")
    package_type = "header-library"
    exports_sources = "include/*", "cmake/WiregaugeGenerate.cmake"
    no_copy_source = True

    def export_sources(self):
        copy(self, "LICENSE", os.path.dirname(self.recipe_folder), self.export_sources_folder)

    def package(self):
        for what in ("include/*", "cmake/*", "LICENSE"):
            copy(self, what, self.source_folder, self.package_folder)

    def package_info(self):
        self.cpp_info.bindirs = []
        self.cpp_info.libdirs = []
        self.cpp_info.set_property("cmake_file_name", "wiregauge-packed")
        self.cpp_info.set_property("cmake_target_name", "wiregauge::packed")
        self.cpp_info.set_property("pkg_config_name", "wiregauge-packed")
        # wiregauge_generate() comes with find_package(wiregauge-packed).
        self.cpp_info.set_property("cmake_build_modules", ["cmake/WiregaugeGenerate.cmake"])
