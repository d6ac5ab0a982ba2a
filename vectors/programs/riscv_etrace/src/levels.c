/* levels.c - own freestanding test program: kernel (S) and tasks (U). See levels.S. */
typedef unsigned long word;
enum { TASKS = 3, STACK = 1024, REGISTERS = 32 };
enum { PC = 0, RA = 1, SP = 2, A0 = 10, A7 = 17 };
enum { SYS_EXIT, SYS_YIELD, SYS_TICKS, SYS_SUM, SYS_FAULTY_ENTRY, SYS_NO_ENTRY };

struct task { word frame[REGISTERS]; int done; };

word *current;
static struct task tasks[TASKS];
static word stacks[TASKS][STACK / sizeof(word)] __attribute__((aligned(16)));
static volatile word ticks, faults, sum;

void kernel_trap(void), kernel_trap_faulty(void);
void monitor_call(word number);
void set_trap_vector(word address);
word system_call(word number, word argument);
void breakpoint(void), illegal(void), bad_load(void), bad_call(void);
word coroutine(word n, word seed), tail(word n);

static void task_sort(void), task_interpret(void), task_recurse(void);

/* ---- S ---- */

void kernel_init(void) {
  static void (*const entry[TASKS])(void) = { task_sort, task_interpret, task_recurse };
  for (int i = 0; i < TASKS; i++) {
    tasks[i].frame[PC] = (word)entry[i];
    tasks[i].frame[SP] = (word)(stacks[i] + STACK / sizeof(word));
    tasks[i].frame[RA] = 0;
  }
  current = tasks[0].frame;
}

static word *next_task(word *frame) {
  struct task *t = (struct task *)frame;
  for (int i = 0; i < TASKS; i++) {
    t = t == &tasks[TASKS - 1] ? tasks : t + 1;
    if (!t->done) return t->frame;
  }
  monitor_call(1);
  return frame;
}

static word *service(word *frame) {
  frame[PC] += 4;
  switch (frame[A7]) {
    case SYS_EXIT: ((struct task *)frame)->done = 1; return next_task(frame);
    case SYS_YIELD: return next_task(frame);
    case SYS_TICKS: frame[A0] = ticks; return frame;
    case SYS_SUM: sum += frame[A0]; frame[A0] = sum; return frame;
    case SYS_FAULTY_ENTRY: set_trap_vector((word)kernel_trap_faulty); return frame;
    case SYS_NO_ENTRY: set_trap_vector(64); return frame;
    default: return frame;
  }
}

/* Takes the frame of the interrupted task, gives that of the next one. */
word *kernel(word *frame, word cause, word value) {
  const word interrupt = ~(~(word)0 >> 1);
  set_trap_vector((word)kernel_trap);
  if (cause == (interrupt | 5)) {
    ticks++;
    monitor_call(0);
    return next_task(frame);
  }
  switch (cause) {
    case 3:
    case 5: frame[PC] += (*(const unsigned short *)frame[PC] & 3) == 3 ? 4 : 2; faults += value; break;
    case 8: return service(frame);
    default: monitor_call(1);
  }
  return frame;
}

/* ---- U ---- */

static unsigned seed = 2463534242u;
static unsigned draw(void) { seed ^= seed << 13; seed ^= seed >> 17; seed ^= seed << 5; return seed; }

static __attribute__((noinline)) void sort(unsigned *a, int low, int high) {
  while (low < high) {
    unsigned pivot = a[(low + high) / 2];
    int i = low, j = high;
    while (i <= j) {
      while (a[i] < pivot) i++;
      while (a[j] > pivot) j--;
      if (i <= j) { unsigned t = a[i]; a[i++] = a[j]; a[j--] = t; }
    }
    if (j - low < high - i) { sort(a, low, j); low = i; } else { sort(a, i, high); high = j; }
  }
}

static void task_sort(void) {
  static unsigned a[96];
  for (int round = 0; round < 6; round++) {
    for (int i = 0; i < 96; i++) a[i] = draw();
    sort(a, 0, 95);
    system_call(SYS_SUM, a[48]);
    bad_load();
    if (round & 1) bad_call();
    system_call(SYS_YIELD, 0);
  }
  for (;;) system_call(SYS_EXIT, 0);
}

static unsigned add(unsigned a, unsigned b) { return a + b; }
static unsigned mix(unsigned a, unsigned b) { return (a ^ b) * 2654435761u; }
static unsigned turn(unsigned a, unsigned b) { b &= 31; return b ? a << b | a >> (32 - b) : a; }

static __attribute__((noinline)) unsigned interpret(const unsigned char *code, int steps) {
  static unsigned (*const operation[4])(unsigned, unsigned) = { add, mix, turn, add };
  unsigned a = 1, at = 0;
  while (steps--) {
    unsigned o = code[at++ & 127];
    switch (o % 13) {
      case 0: a += 7; break;
      case 1: a ^= a << 3; break;
      case 2: a *= 5; break;
      case 3: a = ~a; break;
      case 4: a -= o; break;
      case 5: if (a & 1) at += 2; break;
      case 6: a = operation[a & 3](a, o); break;
      case 7: a = a << 7 | a >> 25; break;
      case 8: a += at; break;
      case 9: at ^= 8; break;
      case 10: a = (unsigned)tail(a & 0xff); break;
      case 11: a = operation[o & 3](o, a); break;
      default: a += (unsigned)coroutine(2, a & 0xff); break;
    }
  }
  return a;
}

static void task_interpret(void) {
  static unsigned char code[128];
  for (int round = 0; round < 8; round++) {
    for (int i = 0; i < 128; i++) code[i] = (unsigned char)draw();
    system_call(SYS_SUM, interpret(code, 250));
    system_call(SYS_FAULTY_ENTRY, 0);
    breakpoint();
    if (round % 3 == 2) { system_call(SYS_NO_ENTRY, 0); breakpoint(); }
  }
  for (;;) system_call(SYS_EXIT, 0);
}

static __attribute__((noinline)) unsigned fib(unsigned n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

static __attribute__((noinline)) unsigned ack(unsigned m, unsigned n) {
  return m == 0 ? n + 1 : n == 0 ? ack(m - 1, 1) : ack(m - 1, ack(m, n - 1));
}

static void task_recurse(void) {
  for (unsigned round = 0; round < 10; round++) {
    system_call(SYS_SUM, fib(7 + (round & 3)) + ack(2, round & 3));
    illegal();
    if (system_call(SYS_TICKS, 0) & 1) system_call(SYS_YIELD, 0);
  }
  for (;;) system_call(SYS_EXIT, 0);
}
