# SPDX-License-Identifier: MIT
"""Builds kprof from the checkout that holds this recipe: conan create packaging/conan

With `-o kprof/*:tools=True` the package has the program kprof too. A project finds kprof with
find_package(kprof) and links kprof::kprof, the headers, or kprof::session, headers and session.
"""

import os
import re

from conan import ConanFile
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load, rmdir

CHECKOUT = os.path.join("..", "..")
SOURCES = ("CMakeLists.txt", "LICENSE", "cmake/*", "include/*", "tools/*")


class KprofRecipe(ConanFile):
    name = "kprof"
    description = "Typed operator profiling for C++ and CUDA"
    license = "MIT"
    topics = ("profiling", "cuda", "nvtx", "flops")
    package_type = "static-library"  # and libkprof.so, to preload
    settings = "os", "arch", "compiler", "build_type"
    options = {"tools": [True, False]}
    default_options = {"tools": False, "boost/*:header_only": True}

    def set_version(self):
        header = os.path.join(self.recipe_folder, CHECKOUT, "include", "kprof", "version.hpp")
        parts = re.findall(r"#define KPROF_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", load(self, header))
        self.version = ".".join(parts)

    def export_sources(self):
        checkout = os.path.join(self.recipe_folder, CHECKOUT)
        for pattern in SOURCES:
            copy(self, pattern, checkout, self.export_sources_folder)

    def layout(self):
        self.folders.root = CHECKOUT
        cmake_layout(self, build_folder="build/conan")

    def requirements(self):
        self.requires("boost/[>=1.75]", transitive_headers=True)
        if self.options.tools:
            self.requires("cli11/[>=2.1 <3]")

    def validate(self):
        check_min_cppstd(self, 20)

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables["KPROF_BUILD_TESTS"] = False
        toolchain.cache_variables["KPROF_BUILD_EXAMPLES"] = False
        toolchain.cache_variables["KPROF_BUILD_BENCH"] = False
        toolchain.cache_variables["KPROF_BUILD_LIBRARIES"] = True
        toolchain.cache_variables["KPROF_BUILD_TOOLS"] = bool(self.options.tools)
        toolchain.cache_variables["KPROF_INSTALL"] = True
        boost = self.dependencies["boost"].cpp_info
        toolchain.cache_variables["KPROF_BOOST_INCLUDE_DIR"] = boost.includedirs[0]
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        rmdir(self, os.path.join(self.package_folder, "share"))

    def package_info(self):
        # kprof's own package files are installed: they know kprof::session and where Boost is.
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs.append(os.path.join("lib", "cmake", "kprof"))
        self.cpp_info.libs = ["kprof_session"]
        self.cpp_info.system_libs = ["pthread", "dl"]
