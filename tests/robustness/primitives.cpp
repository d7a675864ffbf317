// Synchronization primitives between threads, for ThreadSanitizer: sequence lines, sleeping and
// ringing, ring slots, copying teams.
//
// Values are plain memory: a missing acquire or release is a data race besides a wrong value.
#include <array>
#include <chrono>
#include <thread>
#include <vector>

#include "support/cases.hpp"

#include "plan/copy_team.hpp"
#include "transport/node/signals.hpp"

using namespace parhelion;

namespace {

constexpr std::uint64_t rounds = 20000;
constexpr long sleep_us = 20000;

// Waits like exchange/waiter.hpp: poll, announce, poll again, sleep.
void wait_for(
    const std::atomic<std::uint64_t>& number, std::uint64_t value, Mailbox& own, int eager_polls) {
  const auto there = [&] { return number.load(std::memory_order_acquire) >= value; };
  for (int i = 0; i < eager_polls; ++i)
    if (there()) return;
  while (!there()) {
    const auto doorbell = own.doorbell.load(std::memory_order_acquire);
    announce_sleep(own);
    if (!there()) sleep_at(own, doorbell, sleep_us);
    own.sleepers.fetch_sub(1, std::memory_order_relaxed);
  }
}

struct Side {
  Mailbox mailbox;
  SequenceLine granted, written;  // written by the other side
  std::array<std::uint64_t, 8> values{}, ghosts{};
};

// Protocol of transport shared: grant, put, written.
void put_and_read(Side& mine, Side& theirs, std::uint64_t key, std::uint64_t their_key,
    int eager_polls, std::uint64_t& wrong) {
  for (std::uint64_t n = 1; n <= rounds; ++n) {
    mine.values.fill(n * key);
    post(theirs.granted.value, n, theirs.mailbox);
    wait_for(mine.granted.value, n, mine.mailbox, eager_polls);
    theirs.ghosts = mine.values;
    post(theirs.written.value, n, theirs.mailbox);
    wait_for(mine.written.value, n, mine.mailbox, eager_polls);
    for (std::uint64_t ghost : mine.ghosts) wrong += ghost != n * their_key;
  }
}

struct Slot {
  alignas(64) std::atomic<std::uint64_t> number{0};
  std::array<std::uint64_t, 6> values{};
};

struct Reader {
  Mailbox mailbox;
  std::array<Slot, 2> slots;
  SequenceLine consumed;  // written by the reader in its own memory
};

void send(Reader& to, std::uint64_t n) {
  Slot& slot = to.slots[n % 2];
  slot.values.fill(n);
  post(slot.number, n, to.mailbox);
}

std::uint64_t receive(Reader& own, std::uint64_t n, int eager_polls) {
  Slot& slot = own.slots[n % 2];
  wait_for(slot.number, n, own.mailbox, eager_polls);
  std::uint64_t wrong = 0;
  for (std::uint64_t value : slot.values) wrong += value != n;
  return wrong;
}

// Both sides send: each arrival frees the slot before the last one.
void send_and_receive(Reader& mine, Reader& theirs, int eager_polls, std::uint64_t& wrong) {
  for (std::uint64_t n = 1; n <= rounds; ++n) {
    send(theirs, n);
    wrong += receive(mine, n, eager_polls);
  }
}

}  // namespace

CASE(
    "ghosts that two threads write into each other's arrays are those of the exchange that is "
    "ending") {
  for (int eager_polls : {0, 20}) {
    Side a, b;
    std::uint64_t wrong_a = 0, wrong_b = 0;
    std::thread other([&] { put_and_read(b, a, 5, 3, eager_polls, wrong_b); });
    put_and_read(a, b, 3, 5, eager_polls, wrong_a);
    other.join();
    EXPECT_EQ(wrong_a + wrong_b, 0);
    EXPECT_EQ(a.mailbox.sleepers.load() + b.mailbox.sleepers.load(), 0);
  }
}

CASE("two slots are enough where both sides send, and nothing is acknowledged") {
  for (int eager_polls : {0, 20}) {
    Reader a, b;
    std::uint64_t wrong_a = 0, wrong_b = 0;
    std::thread other([&] { send_and_receive(b, a, eager_polls, wrong_b); });
    send_and_receive(a, b, eager_polls, wrong_a);
    other.join();
    EXPECT_EQ(wrong_a + wrong_b, 0);
  }
}

CASE("a one-way sender stays two messages behind what its reader has acknowledged") {
  for (int eager_polls : {0, 20}) {
    Mailbox senders;
    Reader reader;
    std::uint64_t wrong = 0;
    std::thread other([&] {
      for (std::uint64_t n = 1; n <= rounds; ++n) {
        wrong += receive(reader, n, eager_polls);
        post(reader.consumed.value, n, senders);
      }
    });
    for (std::uint64_t n = 1; n <= rounds; ++n) {
      if (n > 2) wait_for(reader.consumed.value, n - 2, senders, eager_polls);
      send(reader, n);
    }
    other.join();
    EXPECT_EQ(wrong, 0);
  }
}

CASE("several threads that sleep at one mailbox all wake up") {
  Mailbox mailbox;
  SequenceLine line, heard;
  std::array<std::uint64_t, 3> last{};
  std::vector<std::thread> sleepers;
  for (auto& own : last)
    sleepers.emplace_back([&] {
      for (std::uint64_t n = 1; n <= 500; ++n) {
        wait_for(line.value, n, mailbox, 0);
        own = n;
        heard.value.fetch_add(1, std::memory_order_release);
      }
    });
  for (std::uint64_t n = 1; n <= 500; ++n) {
    post(line.value, n, mailbox);
    while (heard.value.load(std::memory_order_acquire) < n * last.size()) std::this_thread::yield();
  }
  for (std::thread& thread : sleepers) thread.join();
  for (std::uint64_t value : last) EXPECT_EQ(value, 500);
}

CASE("members of a team see what was written before a job, and the caller sees what they wrote") {
  constexpr int members = 3, cells = 30;
  CopyTeam team(members);
  std::array<std::uint64_t, cells> from{}, to{};
  std::uint64_t wrong = 0;
  for (std::uint64_t n = 1; n <= rounds / 10; ++n) {
    from.fill(n);
    team.share([&](int k) {
      for (int i = k; i < cells; i += members)
        to[static_cast<std::size_t>(i)] = from[static_cast<std::size_t>(i)];
    });
    for (const std::uint64_t value : to) wrong += value != n;
    if (n % 500 == 0)
      std::this_thread::sleep_for(std::chrono::milliseconds(2));  // lets members fall asleep
  }
  EXPECT_EQ(wrong, 0);
}

CASE("threads that want one team at the same time all get their work done") {
  CopyTeam team(2);
  std::array<std::uint64_t, 3> wrong{};
  std::vector<std::thread> threads;
  for (auto& own : wrong)
    threads.emplace_back([&team, &own] {
      for (std::uint64_t n = 1; n <= rounds / 20; ++n) {
        std::array<std::uint64_t, 2> done{};
        team.share([&](int k) { done[static_cast<std::size_t>(k)] += n; });
        own += done[0] != n || done[1] != n;
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (const std::uint64_t own : wrong) EXPECT_EQ(own, 0);
}
