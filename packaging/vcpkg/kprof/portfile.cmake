# SPDX-License-Identifier: MIT
# Builds kprof from the checkout that holds this port:
#
#   vcpkg install kprof --overlay-ports=<checkout>/packaging/vcpkg

get_filename_component(SOURCE_PATH "${CURRENT_PORT_DIR}/../../.." ABSOLUTE)

vcpkg_check_features(OUT_FEATURE_OPTIONS FEATURE_OPTIONS FEATURES tools KPROF_BUILD_TOOLS)
vcpkg_cmake_configure(
  SOURCE_PATH "${SOURCE_PATH}"
  OPTIONS ${FEATURE_OPTIONS} -DKPROF_BUILD_TESTS=OFF -DKPROF_BUILD_EXAMPLES=OFF
          -DKPROF_BUILD_BENCH=OFF -DKPROF_BUILD_LIBRARIES=ON -DKPROF_INSTALL=ON)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/kprof)
if("tools" IN_LIST FEATURES)
  vcpkg_copy_tools(TOOL_NAMES kprof AUTO_CLEAN)
endif()
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share"
                    "${CURRENT_PACKAGES_DIR}/share/licenses")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
