/* tests/conformance/candidates/escape_calls.h - numbers of system calls that the headers here, or
 * this architecture, may lack: what is only old is -1, which no kernel knows. */
#ifndef HONE_TESTS_CONFORMANCE_CANDIDATES_ESCAPE_CALLS_H
#define HONE_TESTS_CONFORMANCE_CANDIDATES_ESCAPE_CALLS_H

#include <sys/syscall.h>

#ifndef SYS_open
#define SYS_open (-1)
#define SYS_creat (-1)
#define SYS_link (-1)
#define SYS_symlink (-1)
#define SYS_rename (-1)
#define SYS_mkdir (-1)
#define SYS_rmdir (-1)
#define SYS_mknod (-1)
#define SYS_unlink (-1)
#define SYS_stat (-1)
#define SYS_lstat (-1)
#define SYS_chmod (-1)
#define SYS_chown (-1)
#define SYS_lchown (-1)
#define SYS_utime (-1)
#define SYS_utimes (-1)
#define SYS_futimesat (-1)
#define SYS_fork (-1)
#define SYS_vfork (-1)
#define SYS_alarm (-1)
#define SYS_dup2 (-1)
#define SYS_pipe (-1)
#define SYS_poll (-1)
#define SYS_time (-1)
#endif
#ifndef SYS_renameat
#define SYS_renameat (-1)
#endif
#ifndef SYS_iopl
#define SYS_iopl (-1)
#define SYS_ioperm (-1)
#define SYS_modify_ldt (-1)
#define SYS_arch_prctl (-1)
#define SYS_set_thread_area (-1)
#endif

/* one number on all architectures from here on */
#ifndef SYS_pidfd_getfd
#define SYS_pidfd_getfd 438
#endif
#ifndef SYS_faccessat2
#define SYS_faccessat2 439
#endif
#ifndef SYS_process_madvise
#define SYS_process_madvise 440
#endif
#ifndef SYS_mount_setattr
#define SYS_mount_setattr 442
#endif
#ifndef SYS_quotactl_fd
#define SYS_quotactl_fd 443
#endif
#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#endif
#ifndef SYS_memfd_secret
#define SYS_memfd_secret 447
#endif
#ifndef SYS_process_mrelease
#define SYS_process_mrelease 448
#endif
#ifndef SYS_cachestat
#define SYS_cachestat 451
#endif
#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452
#endif
#ifndef SYS_statmount
#define SYS_statmount 457
#define SYS_listmount 458
#endif
#ifndef SYS_lsm_get_self_attr
#define SYS_lsm_get_self_attr 459
#define SYS_lsm_set_self_attr 460
#endif
#ifndef SYS_setxattrat
#define SYS_setxattrat 463
#endif
#ifndef SYS_open_tree_attr
#define SYS_open_tree_attr 467
#endif
#ifndef SYS_file_getattr
#define SYS_file_getattr 468
#define SYS_file_setattr 469
#endif

#endif
