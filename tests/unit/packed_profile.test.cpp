// SPDX-License-Identifier: MIT
// needs: exceptions
// Saved profiles whose file's name ends in ".gz".
#include <kprof/report/load.hpp>
#include <kprof/report/save.hpp>
#include <kprof/report/write.hpp>

#include "catch.hpp"
#include "child.hpp"
#include "sample_profile.hpp"

#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <string>

namespace {

void write_bytes(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

}  // namespace

TEST_CASE("packed_profile.is_saved_and_loaded") {
  const kprof_test::temporary_folder folder;
  const kprof::profile run = kprof_test::random_profile(3);
  const std::string text = kprof::saved_text(run);
  const std::string by_save = folder.path("a.json.gz"), by_output = folder.path("b.json.gz");
  REQUIRE(kprof::save(run, by_save).message == "");
  REQUIRE(kprof::write(run, "save", {{"path", by_output}}).message == "");
  for (const std::string& path : {by_save, by_output}) {
    CHECK(kprof_test::read_path(path).size() < text.size() / 2);
    const kprof::loaded_profile loaded = kprof::load(path);
    REQUIRE(loaded.result.message == "");
    CHECK(kprof::saved_text(loaded.run) == text);
    CHECK(std::system(("gzip -d " + path).c_str()) == 0);
    CHECK(kprof_test::read_path(path.substr(0, path.size() - 3)) == text);
  }
}

TEST_CASE("packed_profile.that_is_damaged_or_too_large_is_refused") {
  const kprof_test::temporary_folder folder;
  const std::string path = folder.path("run.json.gz");
  REQUIRE(kprof::save(kprof_test::random_profile(3), path).ok());
  const std::string packed = kprof_test::read_path(path);
  const std::string told =
      '"' + path + "\" is packed, and damaged or cut short; save the profile again";
  for (const std::size_t size :
       {std::size_t{2}, std::size_t{9}, packed.size() / 2, packed.size() - 1}) {
    write_bytes(path, packed.substr(0, size));
    CHECK(kprof::load(path).result.message == told);
  }
  std::string damaged = packed;
  damaged[packed.size() / 2] ^= 0x40;
  write_bytes(path, damaged);
  CHECK_FALSE(kprof::load(path).ok());

  write_bytes(folder.path("zeros"), std::string(std::size_t{4} << 20U, '0'));
  REQUIRE(std::system(("gzip -c " + folder.path("zeros") + " > " + path).c_str()) == 0);
  kprof::load_options options;
  options.max_file = std::uint64_t{1} << 20U;
  CHECK(kprof::load(path, options).result.message ==
        '"' + path + "\" is larger than allowed; raise load_options::max_file, up to 4 GiB");
}

TEST_CASE("packed_profile.without_zlib_says_what_to_do") {
  std::string text;
  const kprof::detail::unpacking_functions none("libthere_is_none.so");
  CHECK(kprof::detail::unpack_gzip("\x1f\x8b", 100, text, none).message ==
        "is packed, and libz.so.1 is not found; install zlib, or unpack it by gunzip");
}
