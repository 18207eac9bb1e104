// SPDX-License-Identifier: MIT
//
// Guards work on every thread. A context carries the place where work was submitted to the thread that does it, so that
// the call tree shows it there and not at the worker's root.
//
//     g++ -std=c++20 -O2 -pthread -I include examples/05_threads_and_context.cpp -o threads && ./threads

#include <kprof/kprof.hpp>

#include <condition_variable>
#include <functional>
#include <mutex>
#include <queue>
#include <thread>
#include <vector>

struct Scale {
  std::int64_t n = 0;
  constexpr kprof::count flops() const { return n; }
  constexpr kprof::traffic bytes() const { return {.read = 4 * kprof::count{n}, .written = 4 * kprof::count{n}}; }
};

class pool {
 public:
  explicit pool(int threads) {
    for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { work(); });
  }
  ~pool() {
    for (std::size_t i = 0; i < threads_.size(); ++i) submit(nullptr);
    for (std::thread& t : threads_) t.join();
  }
  void submit(std::function<void()> task) {
    const std::lock_guard lock(mutex_);
    tasks_.push(std::move(task));
    ready_.notify_one();
  }

 private:
  void work() {
    for (;;) {
      std::unique_lock lock(mutex_);
      ready_.wait(lock, [this] { return !tasks_.empty(); });
      const std::function<void()> task = std::move(tasks_.front());
      tasks_.pop();
      lock.unlock();
      if (!task) return;
      task();
    }
  }
  std::mutex mutex_;
  std::condition_variable ready_;
  std::queue<std::function<void()>> tasks_;
  std::vector<std::thread> threads_;
};

int main() {
  std::vector<std::vector<float>> parts(8, std::vector<float>(1 << 20, 1.0F));
  {
    pool workers(2);
    KPROF_REGION("batch");
    for (std::vector<float>& part : parts)
      workers.submit([&part, here = kprof::context::current()] {   // a plain value: the path "batch"
        const kprof::context_guard under{here};
        KPROF_OP(Scale, {.n = std::ssize(part)});
        for (float& value : part) value *= 2.0F;
      });
  }   // the pool joins its threads; what they recorded stays
  kprof::report();
}
