//go:build linux && vips && cgo

// What Enter does for Go's threads, for a program with C code: before main, when all
// libraries are loaded and there is one thread. Whatever fails leaves the program as it
// is; Enter reports what holds.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

// From linux/landlock.h, which older systems lack. The numbers are those of all processors.
#define CREATE_RULESET 444
#define ADD_RULE 445
#define RESTRICT_SELF 446
#define WRITE_FILE (1 << 1)
#define READ_FILE (1 << 2)
#define READ_DIR (1 << 3)
#define UP_TO_MAKE_SYM ((1 << 13) - 1)
#define REFER (1 << 13)
#define TRUNCATE (1 << 14)
#define IOCTL_DEV (1 << 15)

struct ruleset {
	uint64_t files, net, scoped;
};

struct rule {
	uint64_t rights;
	int32_t folder;
} __attribute__((packed));

static const char *const reads[] = {
#include "reads.h"
};

// allow is the Go function of that name.
static void
allow(int set, const char *path, uint64_t rights)
{
	struct rule r = { rights, open(path, O_PATH | O_CLOEXEC) };

	if (r.folder < 0)
		return;
	if (syscall(ADD_RULE, set, 1, &r, 0) && errno == EINVAL && rights & READ_DIR) {
		r.rights &= ~(uint64_t) READ_DIR;
		syscall(ADD_RULE, set, 1, &r, 0);
	}
	close(r.folder);
}

// allow_library lets libvips read the folder that it lies in, with the modules below.
static void
allow_library(int set)
{
	void *start = dlsym(RTLD_DEFAULT, "vips_init");
	Dl_info found;
	char path[PATH_MAX];

	if (start && dladdr(start, &found) && found.dli_fname && strlen(found.dli_fname) < sizeof path) {
		strcpy(path, found.dli_fname);
		allow(set, dirname(path), READ_FILE | READ_DIR);
	}
}

static void
limit_files(int abi)
{
	struct ruleset limits = { UP_TO_MAKE_SYM, abi >= 4 ? 3 : 0, abi >= 6 ? 1 : 0 };
	int set;

	limits.files |= (abi >= 2 ? REFER : 0) | (abi >= 3 ? TRUNCATE : 0) | (abi >= 5 ? IOCTL_DEV : 0);
	if ((set = syscall(CREATE_RULESET, &limits, sizeof limits, 0)) < 0)
		return;
	for (size_t i = 0; i < sizeof reads / sizeof *reads; i++)
		allow(set, reads[i], READ_FILE | READ_DIR);
	allow_library(set);
	allow(set, "/dev/null", READ_FILE | WRITE_FILE | (limits.files & TRUNCATE));
	// The worker raises it.
	allow(set, "/proc/self/oom_score_adj", READ_FILE | WRITE_FILE | (limits.files & TRUNCATE));
	if (!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		syscall(RESTRICT_SELF, set, 0);
	close(set);
}

// is_worker reports whether the program's second word is that of a worker. (Not every C
// library hands the words to a constructor.)
static int
is_worker(void)
{
	static const char word[] = "media-worker";
	char words[PATH_MAX + sizeof word] = "";
	int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, words, sizeof words - 1);
	const char *second;

	close(fd);
	second = words + strlen(words) + 1;
	return n > 0 && second < words + n && !strcmp(second, word);
}

// before_main limits a worker, and no other program that this is linked into.
__attribute__((constructor)) static void
before_main(void)
{
	int abi;

	if (is_worker() && (abi = syscall(CREATE_RULESET, NULL, 0, 1)) > 0)
		limit_files(abi);
}
