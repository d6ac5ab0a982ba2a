# levels.S - own freestanding test program: three privilege levels on one hart.
#
# M: a monitor. Vectored mtvec; machine timer interrupts are handed down to S as supervisor timer interrupts; ecall from S;
#    illegal instructions are skipped; calls into a page without access return.
# S: a kernel. Takes what is delegated: ecall, breakpoint and load access fault of U, and the supervisor timer, on which it
#    switches tasks.
# U: three tasks (levels.c), and below the code shapes a C compiler does not make.
#if __riscv_xlen == 64
# define LR ld
# define SR sd
# define SZ 8
#else
# define LR lw
# define SR sw
# define SZ 4
#endif
#define MTIME     0x0200bff8
#define MTIMECMP  0x02004000
#define POWER     0x00100000
#define TICKS     9                     /* timer interval: mtime ticks of 100 ns */
#define STIP      0x20
#define FRAME     (32 * SZ)

        .section .text.entry,"ax"
        .globl _start
_start: la      sp, monitor_stack_top
        la      t0, monitor_vector + 1  # mode 1: interrupts go to base + 4 * cause
        csrw    mtvec, t0
        la      t0, monitor_frame
        csrw    mscratch, t0
        li      t0, -1                  # S and U may touch everything but the lowest page ...
        csrw    pmpaddr1, t0
        li      t0, 0x1000 >> 2
        csrw    pmpaddr0, t0
        li      t0, 0x1f08              # ... entry 0: top of range, no access; entry 1: NAPOT, rwx
        csrw    pmpcfg0, t0
        li      t0, 1<<8 | 1<<5 | 1<<3
        csrw    medeleg, t0             # ecall from U, load access fault, breakpoint
        li      t0, STIP
        csrw    mideleg, t0
        csrw    mcounteren, zero
        li      t0, 1<<7 | STIP
        csrw    mie, t0
        la      t0, kernel_trap
        csrw    stvec, t0
        li      t0, 3<<11
        csrc    mstatus, t0
        li      t0, 1<<11               # MPP = S
        csrs    mstatus, t0
        la      t0, kernel_start
        csrw    mepc, t0
        call    arm_timer
        mret

# Sets the next timer interrupt. Clobbers t0 to t2 only; mtime never passes 2^32 here.
arm_timer:
        li      t0, MTIME
        lw      t1, 0(t0)
        addi    t1, t1, TICKS
        li      t0, MTIMECMP
        li      t2, -1
        sw      t2, 4(t0)
        sw      t1, 0(t0)
        sw      zero, 4(t0)
        ret

        .balign 64
monitor_vector:                         # every entry is 4 bytes
        .option push
        .option norvc
        j       monitor_exception
        .rept   6
        j       monitor_stray
        .endr
        j       monitor_timer
        .option pop

monitor_stray:                          # no other interrupt is enabled
        mret

monitor_timer:
        csrrw   sp, mscratch, sp
        SR      t0, 0(sp)
        SR      t1, SZ(sp)
        SR      t2, 2*SZ(sp)
        SR      ra, 3*SZ(sp)
        call    arm_timer
        li      t0, STIP
        csrs    mip, t0
        LR      t0, 0(sp)
        LR      t1, SZ(sp)
        LR      t2, 2*SZ(sp)
        LR      ra, 3*SZ(sp)
        csrrw   sp, mscratch, sp
        mret

monitor_exception:
        csrrw   sp, mscratch, sp
        SR      t0, 0(sp)
        SR      t1, SZ(sp)
        SR      t2, 2*SZ(sp)
        csrr    t0, mcause
        li      t1, 9
        beq     t0, t1, 2f              # ecall from S
        li      t1, 2
        bne     t0, t1, 1f
        csrr    t0, mepc                # illegal instruction, always a 4-byte one here: skip it
        addi    t0, t0, 4
        csrw    mepc, t0
        j       4f
1:      csrw    mepc, ra                # fetch access fault; in U: as if the call had returned
        csrr    t0, mstatus
        li      t1, 3<<11
        and     t0, t0, t1
        beqz    t0, 4f
        la      t0, kernel_trap         # in S: stvec pointed nowhere. scause and sepc still tell of the first trap
        csrw    stvec, t0
        csrw    mepc, t0
        j       4f
2:      csrr    t0, mepc
        addi    t0, t0, 4
        csrw    mepc, t0
        beqz    a7, 3f                  # call 0: the tick is done
        li      t0, POWER               # call 1: power off
        li      t1, 0x5555
        sw      t1, 0(t0)
5:      j       5b
3:      li      t0, STIP
        csrc    mip, t0
4:      LR      t0, 0(sp)
        LR      t1, SZ(sp)
        LR      t2, 2*SZ(sp)
        csrrw   sp, mscratch, sp
        mret

        .text
        .globl kernel_start
kernel_start:
        la      sp, kernel_stack_top
        call    kernel_init
        la      t0, current             # fall into the first task
        LR      t0, 0(t0)
        j       leave

# The first instruction of this one is illegal in S: an exception inside trap entry, with nothing retired between.
        .balign 4
        .globl kernel_trap_faulty
kernel_trap_faulty:
        csrw    0x7c0, zero
        .balign 4
        .globl kernel_trap
kernel_trap:
        csrrw   t0, sscratch, t0        # sscratch: frame of the running task
        SR      ra,  1*SZ(t0)
        SR      sp,  2*SZ(t0)
        SR      gp,  3*SZ(t0)
        SR      tp,  4*SZ(t0)
        SR      t1,  6*SZ(t0)
        SR      t2,  7*SZ(t0)
        SR      s0,  8*SZ(t0)
        SR      s1,  9*SZ(t0)
        SR      a0, 10*SZ(t0)
        SR      a1, 11*SZ(t0)
        SR      a2, 12*SZ(t0)
        SR      a3, 13*SZ(t0)
        SR      a4, 14*SZ(t0)
        SR      a5, 15*SZ(t0)
        SR      a6, 16*SZ(t0)
        SR      a7, 17*SZ(t0)
        SR      s2, 18*SZ(t0)
        SR      s3, 19*SZ(t0)
        SR      s4, 20*SZ(t0)
        SR      s5, 21*SZ(t0)
        SR      s6, 22*SZ(t0)
        SR      s7, 23*SZ(t0)
        SR      s8, 24*SZ(t0)
        SR      s9, 25*SZ(t0)
        SR      s10,26*SZ(t0)
        SR      s11,27*SZ(t0)
        SR      t3, 28*SZ(t0)
        SR      t4, 29*SZ(t0)
        SR      t5, 30*SZ(t0)
        SR      t6, 31*SZ(t0)
        csrr    t1, sscratch
        SR      t1,  5*SZ(t0)
        csrr    t1, sepc
        SR      t1,  0*SZ(t0)
        la      sp, kernel_stack_top
        mv      a0, t0
        csrr    a1, scause
        csrr    a2, stval
        call    kernel
        mv      t0, a0                  # frame of the task to go on with
leave:  csrw    sscratch, t0
        LR      t1,  0*SZ(t0)
        csrw    sepc, t1
        li      t1, 1<<8                # SPP = U
        csrc    sstatus, t1
        LR      ra,  1*SZ(t0)
        LR      sp,  2*SZ(t0)
        LR      gp,  3*SZ(t0)
        LR      tp,  4*SZ(t0)
        LR      t1,  6*SZ(t0)
        LR      t2,  7*SZ(t0)
        LR      s0,  8*SZ(t0)
        LR      s1,  9*SZ(t0)
        LR      a0, 10*SZ(t0)
        LR      a1, 11*SZ(t0)
        LR      a2, 12*SZ(t0)
        LR      a3, 13*SZ(t0)
        LR      a4, 14*SZ(t0)
        LR      a5, 15*SZ(t0)
        LR      a6, 16*SZ(t0)
        LR      a7, 17*SZ(t0)
        LR      s2, 18*SZ(t0)
        LR      s3, 19*SZ(t0)
        LR      s4, 20*SZ(t0)
        LR      s5, 21*SZ(t0)
        LR      s6, 22*SZ(t0)
        LR      s7, 23*SZ(t0)
        LR      s8, 24*SZ(t0)
        LR      s9, 25*SZ(t0)
        LR      s10,26*SZ(t0)
        LR      s11,27*SZ(t0)
        LR      t3, 28*SZ(t0)
        LR      t4, 29*SZ(t0)
        LR      t5, 30*SZ(t0)
        LR      t6, 31*SZ(t0)
        LR      t0,  5*SZ(t0)
        sret

# monitor_call(number): ecall from S.
        .globl monitor_call
monitor_call:
        mv      a7, a0
        ecall
        ret

# set_trap_vector(address)
        .globl set_trap_vector
set_trap_vector:
        csrw    stvec, a0
        ret

# system_call(number, argument) -> result: ecall from U.
        .globl system_call
system_call:
        mv      a7, a0
        mv      a0, a1
        ecall
        ret

        .globl breakpoint
breakpoint:
        .option push
        .option norvc
        ebreak                          # 4 bytes
        .option pop
        c.ebreak                        # 2 bytes
        ret

        .globl illegal
illegal:
        csrw    0x7c0, zero             # no such register
        csrr    a0, mhartid             # not in U
        ret

        .globl bad_load
bad_load:
        lw      a0, 16(zero)            # 4 bytes, no access
        li      a5, 32
        c.lw    a0, 0(a5)               # 2 bytes
        ret

# Calls and jumps into the page without access: the fault comes before the first instruction there.
        .globl bad_call
bad_call:
        addi    sp, sp, -16
        SR      ra, 0(sp)
        li      t1, 16
        jalr    t1                      # the monitor returns to ra
        LR      ra, 0(sp)
        addi    sp, sp, 16
        ret

# coroutine(n): two routines that swap through ra and t0, and a helper called by the alternate link register.
        .globl coroutine
coroutine:
        addi    sp, sp, -16
        SR      ra, 0(sp)
        la      t0, partner
1:      jalr    ra, 0(t0)               # swap: t0 -> pc, ra
        jal     t0, twice
        mv      t0, ra
        addi    a0, a0, -1
        bgtz    a0, 1b
        LR      ra, 0(sp)
        addi    sp, sp, 16
        mv      a0, a1
        ret
partner:
        addi    a1, a1, 3
        jalr    t0, 0(ra)               # call linking t0 from ra: swap back
        xori    a1, a1, 5
        jalr    t0, 0(ra)
        j       partner
twice:  slli    a1, a1, 1
        jr      t0

# tail(n): an inferable loop entry, jumps without linkage through a register that is no link register.
        .globl tail
tail:   la      t3, 2f
        andi    t1, a0, 1
        beqz    t1, 1f
        la      t3, 3f
1:      jr      t3
2:      addi    a0, a0, 7
        j       4f
3:      slli    a0, a0, 1
        .option push
        .option norvc
        j       4f
        .option pop
4:      jal     t1, 5f                  # link register that is neither ra nor t0
        ret
5:      addi    a0, a0, 1
        jr      t1

        .section .bss
        .balign 16
monitor_frame:
        .space  4*SZ
        .balign 16
        .space  256
monitor_stack_top:
        .space  2048
kernel_stack_top:
