// SPDX-License-Identifier: MIT
// Opens plugins and runs each on two threads, one of which was there before. Arguments: the
// plugins. Ends with 0 if all scopes are recorded.
#include <dlfcn.h>

#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <thread>
#include <vector>

int main(int argc, char** argv) {
  std::vector<void (*)(int)> runs;
  unsigned long (*recorded)() = nullptr;
  std::mutex mutex;
  std::condition_variable all_open;
  bool is_open = false;
  std::thread older([&] {
    std::unique_lock lock(mutex);
    all_open.wait(lock, [&] { return is_open; });
    for (const auto run : runs) run(100);
  });
  int failures = 0;
  for (int i = 1; i < argc; ++i) {
    void* const plugin = dlopen(argv[i], RTLD_NOW | RTLD_LOCAL);
    if (plugin == nullptr) {
      std::printf("FAILED: %s\n", dlerror());
      ++failures;
      continue;
    }
    runs.push_back(reinterpret_cast<void (*)(int)>(dlsym(plugin, "run")));
    recorded = reinterpret_cast<unsigned long (*)()>(dlsym(plugin, "recorded"));
  }
  {
    const std::lock_guard lock(mutex);
    is_open = true;
  }
  all_open.notify_one();
  older.join();
  for (const auto run : runs) run(100);
  const unsigned long expected = 200 * runs.size();
  const unsigned long found = recorded == nullptr ? 0 : recorded();
  std::printf("%zu of %d plugins opened, %lu of %lu scopes recorded\n", runs.size(), argc - 1,
              found, expected);
  return failures == 0 && found == expected ? 0 : 1;
}
