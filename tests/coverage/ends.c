/* ends.c: linked into all that `make coverage` builds. A process that ends by _exit, by abort or by a signal it sends
 * itself writes its counts first; gcov by itself does so only at exit. The linker hands the calls over (see Makefile). */
void __gcov_dump(void);

_Noreturn void __real__exit(int status);
_Noreturn void __wrap__exit(int status);
_Noreturn void __wrap__exit(int status)
{
    __gcov_dump();
    __real__exit(status);
}

_Noreturn void __real_abort(void);
_Noreturn void __wrap_abort(void);
_Noreturn void __wrap_abort(void)
{
    __gcov_dump();
    __real_abort();
}

int __real_raise(int number);
int __wrap_raise(int number);
int __wrap_raise(int number)
{
    __gcov_dump();
    return __real_raise(number);
}
