// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The stack on which a thread's signal handlers run. A handler can't run on the thread's own stack after an overflow.
@safe enum SignalStack {
    /// In bytes. The handler of Swift's runtime uses about 10,000.
    private static let size = 65_536

    /// The thread-specific value is the stack's memory, which is freed when the thread ends.
    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        unsafe pthread_key_create(&key) { memory in
            var none = unsafe stack_t()
            unsafe none.ss_flags = Int32(SS_DISABLE)
            unsafe sigaltstack(&none, nil)
            unsafe munmap(memory, SignalStack.size)
        }
        return key
    }()

    /// Gives the calling thread such a stack, if it has none.
    static func setForCaller() {
        var stack = unsafe stack_t()
        unsafe sigaltstack(nil, &stack)
        guard unsafe stack.ss_flags & Int32(SS_DISABLE) != 0 else { return }
        let memory = unsafe mmap(nil, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        guard let memory = unsafe memory, unsafe memory != MAP_FAILED else { return }
        unsafe stack.ss_flags = 0
        unsafe stack.ss_sp = memory
        unsafe stack.ss_size = size
        guard unsafe sigaltstack(&stack, nil) == 0 else {
            unsafe munmap(memory, size)
            return
        }
        unsafe pthread_setspecific(key, memory)
    }
}
