package store

/*
#include <malloc.h>

#ifdef __GLIBC__
__attribute__((constructor)) static void oneArena(void) { mallopt(M_ARENA_MAX, 1); }
#endif
*/
import "C"

// SQLite's memory comes from one heap of the C library, which has one for each of
// several threads otherwise. A goroutine's calls come from ever different threads: each
// heap grew as large as all of SQLite's memory, 70 MB together in a first build.
// Nothing waits longer for it: SQLite asks for memory under a lock of its own.
// It must be said before there is a second thread, hence in C.
