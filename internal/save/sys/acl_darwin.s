#include "textflag.h"

TEXT libc_fcopyfile_trampoline<>(SB),NOSPLIT,$0-0
	JMP	libc_fcopyfile(SB)
GLOBL	·fcopyfileAddr(SB), RODATA, $8
DATA	·fcopyfileAddr(SB)/8, $libc_fcopyfile_trampoline<>(SB)
