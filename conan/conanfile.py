import os
import re

from conan import ConanFile
from conan.tools.layout import basic_layout
from conan.tools.build import check_min_cppstd
from conan.tools.files import copy, load

required_conan_version = ">=2.0"


class Poot(ConanFile):
    name = "poot"
    description = "Array expressions, fused into few kernels: header-only C++20"
    license = "BSL-1.0"
    topics = ("header-only", "machine-learning", "fusion", "constexpr")
    package_type = "header-library"
    settings = "os", "arch", "compiler", "build_type"
    no_copy_source = True

    @property
    def _root(self):
        return os.path.join(self.recipe_folder, os.pardir)

    def set_version(self):
        header = load(self, os.path.join(self._root, "include", "poot", "version.hpp"))
        self.version = ".".join(re.findall(r"POOT_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", header))

    def export_sources(self):
        for pattern in ("LICENSE", "include/*"):
            copy(self, pattern, src=self._root, dst=self.export_sources_folder)

    def layout(self):
        basic_layout(self)

    def requirements(self):
        self.requires("boost/[>=1.74 <2]", options={"header_only": True}, transitive_headers=True)

    def validate(self):
        check_min_cppstd(self, 20)

    def package(self):
        copy(self, "LICENSE", src=self.source_folder, dst=os.path.join(self.package_folder, "licenses"))
        copy(self, "*", src=os.path.join(self.source_folder, "include"), dst=os.path.join(self.package_folder, "include"))

    def package_id(self):
        self.info.clear()

    def package_info(self):
        self.cpp_info.bindirs = []
        self.cpp_info.libdirs = []
        self.cpp_info.set_property("cmake_file_name", "poot")
        self.cpp_info.set_property("cmake_target_name", "poot::poot")
        if self.settings.os == "Linux":
            self.cpp_info.system_libs = ["pthread", "dl"]
