// SPDX-License-Identifier: MIT
#ifndef KPROF_MACHINE_GPU_KERNELS_HPP
#define KPROF_MACHINE_GPU_KERNELS_HPP

// The kernels that measure what a GPU reaches, as PTX text, which the driver compiles: no CUDA
// Toolkit is needed where they run. Included by measure_gpu.hpp. Pure.

#include <kprof/build_options.hpp>
#include <kprof/declare/dtype.hpp>
#include <kprof/write/fill_in.hpp>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>

KPROF_DETAIL_BEGIN
namespace detail {

/// What a kernel does over and over.
enum class gpu_loop : std::uint8_t { multiply_add, matrix, read, copy, triad };

struct gpu_kernel {
  gpu_loop loop;
  dtype type;  // of the operands; of memory's loops: unknown
  dtype sums;  // what a tensor core adds into, where gpu_rates.hpp has a rate for each
  // The devices that it is for, by major * 10 + minor, both included.
  std::uint16_t first, last;
  std::uint16_t target;  // .target of the text
  const char* version;   // .version
  const char* instruction;
  std::uint8_t bits;                // of a register of the instruction
  std::uint8_t of_sum, of_a, of_b;  // registers of each operand
  std::uint16_t operations;  // of one instruction, of a thread or, where `loop` is matrix, a warp
};

inline constexpr std::uint16_t any_later = 0xFFFF;

// A target is the first architecture that has the instruction, and a version the first that has it
// too: the older the text, the older the driver may be.
// clang-format off
inline constexpr gpu_kernel gpu_kernels[] = {
    // Products on CUDA cores: x = x a + b.
    {gpu_loop::multiply_add, dtype::f32, dtype::unknown, 75, any_later, 75, "6.4",
     "fma.rn.f32", 32, 1, 1, 1, 2},
    {gpu_loop::multiply_add, dtype::f64, dtype::unknown, 75, any_later, 75, "6.4",
     "fma.rn.f64", 64, 1, 1, 1, 2},
    {gpu_loop::multiply_add, dtype::f16, dtype::unknown, 75, any_later, 75, "6.4",
     "fma.rn.f16x2", 32, 1, 1, 1, 4},
    {gpu_loop::multiply_add, dtype::bf16, dtype::unknown, 80, any_later, 80, "7.0",
     "fma.rn.bf16x2", 32, 1, 1, 1, 4},
    {gpu_loop::multiply_add, dtype::int32, dtype::unknown, 75, any_later, 75, "6.4",
     "mad.lo.s32", 32, 1, 1, 1, 2},
    {gpu_loop::multiply_add, dtype::int8, dtype::unknown, 75, any_later, 75, "6.4",
     "dp4a.s32.s32", 32, 1, 1, 1, 8},
    // Products of matrices on tensor cores: X = A B + X.
    {gpu_loop::matrix, dtype::f16, dtype::f32, 75, 79, 75, "6.5",
     "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32", 32, 4, 2, 1, 2 * 16 * 8 * 8},
    {gpu_loop::matrix, dtype::f16, dtype::f16, 75, 79, 75, "6.5",
     "mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16", 32, 2, 2, 1, 2 * 16 * 8 * 8},
    {gpu_loop::matrix, dtype::int8, dtype::unknown, 75, 79, 75, "6.5",
     "mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32", 32, 2, 1, 1, 2 * 8 * 8 * 16},
    {gpu_loop::matrix, dtype::f16, dtype::f32, 80, any_later, 80, "7.0",
     "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", 32, 4, 4, 2, 2 * 16 * 8 * 16},
    {gpu_loop::matrix, dtype::f16, dtype::f16, 80, any_later, 80, "7.0",
     "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16", 32, 2, 4, 2, 2 * 16 * 8 * 16},
    {gpu_loop::matrix, dtype::bf16, dtype::unknown, 80, any_later, 80, "7.0",
     "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", 32, 4, 4, 2, 2 * 16 * 8 * 16},
    {gpu_loop::matrix, dtype::tf32, dtype::unknown, 80, any_later, 80, "7.0",
     "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", 32, 4, 4, 2, 2 * 16 * 8 * 8},
    {gpu_loop::matrix, dtype::int8, dtype::unknown, 80, any_later, 80, "7.0",
     "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32", 32, 4, 4, 2, 2 * 16 * 8 * 32},
    {gpu_loop::matrix, dtype::fp8_e4m3, dtype::f32, 89, any_later, 89, "8.4",
     "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32", 32, 4, 4, 2, 2 * 16 * 8 * 32},
    // Between these, f64 has no tensor cores. 9.0 wants larger matrices.
    {gpu_loop::matrix, dtype::f64, dtype::unknown, 80, 80, 80, "7.0",
     "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64", 64, 2, 1, 1, 2 * 8 * 8 * 4},
    {gpu_loop::matrix, dtype::f64, dtype::unknown, 90, 100, 90, "7.8",
     "mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64", 64, 4, 4, 2, 2 * 16 * 8 * 8},
    // Bytes, 16 a thread and access.
    {gpu_loop::read, dtype::unknown, dtype::unknown, 75, any_later, 75, "6.4", "", 32, 0, 0, 0, 0},
    {gpu_loop::copy, dtype::unknown, dtype::unknown, 75, any_later, 75, "6.4", "", 32, 0, 0, 0, 0},
    {gpu_loop::triad, dtype::unknown, dtype::unknown, 75, any_later, 75, "6.4", "", 32, 0, 0, 0, 0},
};
// clang-format on

/// What a block and a round of each kernel are.
struct gpu_shape {
  static constexpr std::uint32_t threads = 256;  // of a block
  // Of a multiprocessor, at a time. It holds these, whatever the architecture.
  static constexpr std::uint32_t blocks = 4;
  static constexpr std::uint32_t steps = 32;    // of each chain, in a round
  static constexpr std::uint32_t accesses = 4;  // of a thread, under way at a time
  /// Of a thread, none of which waits for another.
  static constexpr std::uint32_t chains(const gpu_kernel& k) noexcept {
    return k.loop != gpu_loop::matrix ? 8 : k.bits == 64 ? 2 : 4;
  }
  static constexpr bool is_memory(gpu_loop loop) noexcept { return loop >= gpu_loop::read; }
};

/// Writes the text of one kernel. Its parameters are six words of 64 bits: where it writes the
/// clock, the rounds, the array to write, those to read, and the bytes of each array.
class ptx_writer {
 public:
  static constexpr const char* entry = "kprof_ceiling";

  [[gnu::cold]] static std::string text(const gpu_kernel& k) {
    ptx_writer w(k);
    w.begin();
    if (gpu_shape::is_memory(k.loop)) w.pass_over_memory();
    else w.compute();
    w.end();
    return std::move(w.out_);
  }

 private:
  using number = std::uint64_t;

  [[gnu::cold]] explicit ptx_writer(const gpu_kernel& k) : k_(k) {}

  /// A number for each # of the lines.
  [[gnu::cold]] void put(const char* lines, std::initializer_list<number> numbers = {}) {
    fill_in(out_, lines, numbers);
  }

  /// Reads the parameters, and both clocks.
  [[gnu::cold]] void begin() {
    put(".version ");
    put(k_.version);
    put("\n.target sm_#\n"
        ".address_size 64\n"
        ".visible .entry kprof_ceiling(.param .b64 p0, .param .b64 p1, .param .b64 p2,\n"
        "  .param .b64 p3, .param .b64 p4, .param .b64 p5)\n"
        ".maxntid #, 1, 1\n"
        ".minnctapersm #\n"
        "{\n"
        ".reg .pred p, first;\n"
        ".reg .b32 t, n, s, v<32>;\n"
        ".reg .b64 out, rounds, to, from, more, bytes, at, step, i, address, now<4>;\n"
        "ld.param.b64 out, [p0];\n"
        "ld.param.b64 rounds, [p1];\n"
        "ld.param.b64 to, [p2];\n"
        "ld.param.b64 from, [p3];\n"
        "ld.param.b64 more, [p4];\n"
        "ld.param.b64 bytes, [p5];\n"
        "cvta.to.global.u64 out, out;\n"
        "cvta.to.global.u64 to, to;\n"
        "cvta.to.global.u64 from, from;\n"
        "cvta.to.global.u64 more, more;\n"
        "mov.u32 t, %tid.x;\n"
        "mov.u32 n, %ctaid.x;\n"
        "mad.lo.u32 n, n, #, t;\n"
        "setp.eq.u32 first, n, 0;\n"
        "mov.b32 s, 0;\n"
        "mov.u64 now0, %globaltimer;\n"
        "mov.u64 now1, %clock64;\n",
        {k_.target, gpu_shape::threads, gpu_shape::blocks, gpu_shape::threads});
  }
  /// Writes both clocks, of the first thread. The sums are written where they have one value that
  /// they never have: else the compiler would leave out what nobody reads.
  [[gnu::cold]] void end() {
    put("sub.u64 rounds, rounds, 1;\n"
        "setp.ne.u64 p, rounds, 0;\n"
        "@p bra again;\n");
    for (number i = 0; !gpu_shape::is_memory(k_.loop) && i < sums(); ++i)
      put(is_wide() ? "mov.b64 {v0, v1}, x#;\nxor.b32 s, s, v0;\n"
                    : "mov.b32 v0, x#;\nxor.b32 s, s, v0;\n",
          {i});
    put("mov.u64 now2, %globaltimer;\n"
        "mov.u64 now3, %clock64;\n"
        "@first st.global.b64 [out], now0;\n"
        "@first st.global.b64 [out+8], now1;\n"
        "@first st.global.b64 [out+16], now2;\n"
        "@first st.global.b64 [out+24], now3;\n"
        "setp.eq.u32 p, s, 305419897;\n"
        "@p st.global.b32 [out+32], s;\n"
        "ret;\n"
        "}\n");
  }

  bool is_wide() const { return k_.bits == 64; }
  number sums() const { return number{gpu_shape::chains(k_)} * k_.of_sum; }

  /// "{x4,x5}": the registers of one operand.
  [[gnu::cold]] void operand(const char* before, const char* name, number first, number count) {
    const bool is_matrix = k_.loop == gpu_loop::matrix;
    put(before);
    if (is_matrix) put("{");
    for (number i = 0; i < count; ++i) {
      if (i != 0) put(",");
      put(name, {first + i});
    }
    if (is_matrix) put("}");
  }
  /// Bits that are a number below 2 in every type, and differ between threads and registers.
  [[gnu::cold]] void fill(const char* name, number count) {
    for (number i = 0; i < count; ++i) {
      put("add.u32 t, t, 0x3C6EF371;\n"
          "and.b32 v0, t, 0x3B3B3B3B;\n"
          "mov.b# ",
          {k_.bits});
      put(name, {i});
      put(is_wide() ? ", {v0, v0};\n" : ", v0;\n");
    }
  }
  [[gnu::cold]] void compute() {
    put(".reg .b# x<#>;\n"
        ".reg .b# a<#>;\n"
        ".reg .b# b<#>;\n"
        "mul.lo.u32 t, n, 0x9E3779B1;\n",
        {k_.bits, sums(), k_.bits, k_.of_a, k_.bits, k_.of_b});
    fill("x#", sums());
    fill("a#", k_.of_a);
    fill("b#", k_.of_b);
    put("again:\n");
    for (std::uint32_t step = 0; step < gpu_shape::steps; ++step)
      for (number x = 0; x < sums(); x += k_.of_sum) {
        put(k_.instruction);
        operand(" ", "x#", x, k_.of_sum);
        const bool is_matrix = k_.loop == gpu_loop::matrix;
        if (!is_matrix) operand(", ", "x#", x, k_.of_sum);
        operand(", ", "a#", 0, k_.of_a);
        operand(", ", "b#", 0, k_.of_b);
        if (is_matrix) operand(", ", "x#", x, k_.of_sum);
        put(";\n");
      }
  }

  /// Each thread goes over the arrays in steps of all threads, `accesses` steps at a time. The
  /// bytes are a multiple of that.
  [[gnu::cold]] void pass_over_memory() {
    put("mul.wide.u32 at, n, 16;\n"
        "mov.u32 t, %nctaid.x;\n"
        "mul.wide.u32 step, t, #;\n"
        "again:\n"
        "mov.b64 i, at;\n"
        "next:\n",
        {gpu_shape::threads * 16});
    // Past L1, which is not what is measured.
    constexpr const char* load = "ld.global.cg.v4.b32 {v#, v#, v#, v#}, [address];\n";
    access("from", load, 0);
    if (k_.loop == gpu_loop::triad) access("more", load, 16);
    for (number v = 0; v < 16; ++v)
      if (k_.loop == gpu_loop::read) put("xor.b32 s, s, v#;\n", {v});
      else if (k_.loop == gpu_loop::triad)
        put("fma.rn.f32 v#, v#, 0f40400000, v#;\n", {v, v + 16, v});
    if (k_.loop != gpu_loop::read)
      access("to", "st.global.cs.v4.b32 [address], {v#, v#, v#, v#};\n", 0);
    put("mad.lo.u64 i, step, #, i;\n"
        "setp.lt.u64 p, i, bytes;\n"
        "@p bra next;\n",
        {gpu_shape::accesses});
  }
  [[gnu::cold]] void access(const char* array, const char* line, number v) {
    put("add.u64 address, ");
    put(array);
    put(", i;\n");
    for (std::uint32_t a = 0; a < gpu_shape::accesses; ++a, v += 4) {
      if (a != 0) put("add.u64 address, address, step;\n");
      put(line, {v, v + 1, v + 2, v + 3});
    }
  }

  const gpu_kernel& k_;
  std::string out_;
};

}  // namespace detail
KPROF_DETAIL_END

#endif
