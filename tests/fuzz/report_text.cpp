// SPDX-License-Identifier: MIT
// Any bytes as the names, parameters and numbers of a profile, and as options of the report: the
// page is printable, whatever they are.
#include "groupings.hpp"
#include "printable.hpp"
#include "profile_builder.hpp"

#include <kprof/kprof.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace {

/// Takes values off the input's front, and zeros when it has ended.
class bytes {
 public:
  bytes(const std::uint8_t* data, std::size_t size) : at_(data), end_(data + size) {}
  bool left() const { return at_ != end_; }
  std::uint8_t byte() { return at_ == end_ ? std::uint8_t{0} : *at_++; }
  std::uint64_t word() {
    std::uint64_t out = 0;
    for (int i = 0; i < 8; ++i) out = out << 8U | byte();
    return out;
  }
  double number() {
    const std::uint64_t bits = word();
    double out = 0;
    std::memcpy(&out, &bits, sizeof out);
    return out >= 0 && out < 1e18 ? out : static_cast<double>(bits % 1'000'000);
  }
  std::string text() {
    std::string out(byte() % 40U, '\0');
    for (char& c : out) c = static_cast<char>(byte());
    return out;
  }

 private:
  const std::uint8_t* at_;
  const std::uint8_t* end_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  bytes in(data, size);
  kprof::report_options options;
  options.width = in.byte() * 2;
  options.top = in.byte() % 8;
  options.ascii = in.byte() % 2 != 0;
  options.legend = in.byte() % 2 != 0;
  options.by = kprof_test::finer_and_finer()[in.byte() % 4];

  kprof_test::profile_builder b;
  std::vector<std::uint32_t> nodes{b.thread(in.text(), in.byte())};
  while (in.left() && nodes.size() < 16) {
    const std::uint32_t parent = nodes[in.byte() % nodes.size()];
    const std::uint8_t kind = in.byte();
    if (kind % 8 == 0) nodes.push_back(b.thread(in.text(), in.byte()));
    else if (kind % 2 == 0) nodes.push_back(b.region(parent, in.text()));
    else nodes.push_back(b.op(parent, in.text(), in.text()));
    b.calls(nodes.back(), in.byte() + 1U, in.number());
    if (kind % 3 == 0) b.work(nodes.back(), in.word(), in.word(), in.word());
    if (kind % 5 == 0) b.site(nodes.back(), in.text(), in.byte());
  }
  const kprof::profile run = b.done();
  std::string page;
  kprof_test::require(kprof::write_text(run, options, page).ok(), "no report");
  kprof_test::require_printable(page, 0);
  return 0;
}
