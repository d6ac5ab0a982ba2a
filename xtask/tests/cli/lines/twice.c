/* The program of the tests of source lines, made by
 *     clang --target=riscv32 -march=rv32ic -mabi=ilp32 -O1 -g -gdwarf-4 -ffreestanding -fno-inline
 *         -ffile-compilation-dir=. -fno-ident -nostdlib -fuse-ld=lld -Wl,--image-base=0x1000,-Ttext=0x1000,-n twice.c -o twice.elf
 */
int twice(int value) {
    return value +
           value;
}

int _start(void) {
    int four = twice(2);
    return twice(four);
}
