#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "support/cases.hpp"

#include "exchange/wisdom.hpp"

using namespace parhelion;

namespace {

WisdomEntry entry(std::uint64_t plan, const std::string& choice = "shared|staged_shared+ucx") {
    return {{plan, "A processor, 2 cores", "An MPI 1.0"}, choice, 12.5e-6};
}

std::string text_of(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

// Gone with its files at the end of the test.
struct Folder {
    std::filesystem::path path;
    Folder() {
        std::string name = (std::filesystem::temp_directory_path() / "wisdom.XXXXXX").string();
        path = mkdtemp(name.data());
    }
    ~Folder() { std::filesystem::remove_all(path); }
    std::string file(const std::string& text = {}) const {
        const auto name = path / "wisdom";
        if (!text.empty()) std::ofstream(name, std::ios::binary) << text;
        return name.string();
    }
    std::ptrdiff_t files() const { return std::distance(std::filesystem::directory_iterator(path), {}); }
};

}  // namespace

CASE("what is written is read") {
    std::string complaint = "before";
    const auto read = read_wisdom(write_wisdom({entry(1), entry(~0ull, "ucx")}), complaint);
    EXPECT_EQ(complaint, "");
    ASSERT_EQ(read.size(), 2);
    EXPECT_EQ(read[0].key, entry(1).key);
    EXPECT_EQ(read[0].choice, "shared|staged_shared+ucx");
    EXPECT_NEAR(read[0].seconds, 12.5e-6, 1e-3 * 12.5e-6);
    EXPECT_EQ(read[1].choice, "ucx");
    EXPECT_TRUE(read_wisdom("", complaint).empty());
    EXPECT_EQ(complaint, "");
}

CASE("of a damaged file what is whole is used, and what is wrong is said; another file is none") {
    std::string text = write_wisdom({entry(1), entry(2), entry(3)}), complaint;
    text[text.find("0000000000000002") + 15] = '7';
    const auto read = read_wisdom(text, complaint);
    ASSERT_EQ(read.size(), 2);
    EXPECT_EQ(read[1].key.plan, 3);
    EXPECT_EQ(complaint, "line 3 is damaged");
    EXPECT_TRUE(read_wisdom("#!/bin/sh\nrm -rf /\n", complaint).empty());
    EXPECT_NE(complaint, "");
    EXPECT_TRUE(is_foreign("{}"));
    EXPECT_TRUE(is_foreign("parhelion wisdom 2\n"));
    EXPECT_FALSE(is_foreign(""));
    EXPECT_FALSE(is_foreign(text));
}

CASE("whatever bytes a file holds, only what was written is taken from it") {
    const std::vector<WisdomEntry> written{entry(1), entry(2, "ucx"), entry(3, "mpi_persistent")};
    const std::string whole = write_wisdom(written);
    for (unsigned seed = 0; seed < 20000; ++seed) {
        std::mt19937 random(seed);
        std::string text = whole;
        for (unsigned changes = random() % 4 + 1; changes > 0; --changes) {
            const std::size_t at = random() % (text.size() + 1);
            switch (random() % 4) {
                case 0: text.resize(at); break;
                case 1: text.insert(at, 1, static_cast<char>(random())); break;
                case 2:
                    if (at < text.size()) text[at] = static_cast<char>(random());
                    break;
                case 3: text.insert(at, text.substr(random() % (text.size() + 1), random() % 50)); break;
            }
        }
        std::string complaint;
        for (const WisdomEntry& each : read_wisdom(text, complaint)) {
            const auto known = std::find_if(written.begin(), written.end(), [&](const auto& one) { return one.key == each.key; });
            CAPTURE(seed);
            ASSERT_NE(known, written.end());
            EXPECT_EQ(each.choice, known->choice);
        }
    }
}

CASE("entries are added to what the file holds by then, in one step, and replaced by newer ones") {
    const Folder folder;
    WisdomFile mine(folder.file()), another(folder.file());
    EXPECT_FALSE(mine.find(entry(1).key));
    mine.learn(entry(1));
    another.learn(entry(2));
    mine.learn(entry(3));
    mine.learn(entry(1, "ucx"));
    WisdomFile later(folder.file());
    EXPECT_EQ(later.find(entry(1).key).value(), "ucx");
    EXPECT_TRUE(later.find(entry(2).key));
    EXPECT_TRUE(later.find(entry(3).key));
    WisdomKey elsewhere = entry(1).key;
    elsewhere.machine = "Another";
    EXPECT_FALSE(later.find(elsewhere));
    EXPECT_EQ(folder.files(), 1);  // no draft is left
}

CASE("a file that is something else stays as it is") {
    const Folder folder;
    WisdomFile file(folder.file("precious\n"));
    EXPECT_FALSE(file.find(entry(1).key));
    file.learn(entry(1));
    EXPECT_EQ(text_of(folder.file()), "precious\n");
    EXPECT_EQ(file.find(entry(1).key).value(), "shared|staged_shared+ucx");  // for this process
}

CASE("a damaged file is mended, and one that cannot be read or written is no error") {
    const Folder folder;
    WisdomFile file(folder.file("parhelion wisdom 1\nnonsense\n"));
    file.learn(entry(1));
    EXPECT_EQ(text_of(folder.file()), write_wisdom({entry(1)}));
    WisdomFile nowhere((folder.path / "no folder" / "wisdom").string());
    EXPECT_FALSE(nowhere.find(entry(1).key));
    nowhere.learn(entry(1));
    WisdomFile itself(folder.path.string());
    EXPECT_FALSE(itself.find(entry(1).key));
    itself.learn(entry(1));
    mkfifo((folder.path / "pipe").c_str(), 0600);
    WisdomFile pipe((folder.path / "pipe").string());
    EXPECT_FALSE(pipe.find(entry(1).key));
}
