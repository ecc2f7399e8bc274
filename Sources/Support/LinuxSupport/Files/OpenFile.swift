// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Writes to open files.
enum OpenFile {
    /// Writes all bytes at the file's current position. Writing to a pipe that nobody reads is an error, and does not
    /// end the process.
    static func write(_ file: Int32, _ bytes: [UInt8], name: String) throws(StorageError) {
        let number = PipeSignal.held { write(file, bytes) }
        guard number == 0 else { throw .system("\(name) can't be written", number) }
    }

    private static func write(_ file: Int32, _ bytes: [UInt8]) -> Int32 {
        inParts(bytes.count) { start in
            unsafe bytes.withUnsafeBytes { buffer in
                unsafe Glibc.write(file, buffer.baseAddress?.advanced(by: start), buffer.count - start)
            }
        }
    }

    /// Writes bytes in as many parts as the system takes.
    ///
    /// - Parameters:
    ///   - count: how many bytes there are.
    ///   - writePart: writes from a byte on. Returns what write(2) returns, with its `errno`.
    /// - Returns: 0 or the error number.
    static func inParts(_ count: Int, _ writePart: (Int) -> Int) -> Int32 {
        var written = 0
        while written < count {
            let taken = writePart(written)
            if taken > 0 {
                written += taken
            } else if taken == 0 {
                // A file that takes nothing, and names no error, may never take more.
                return EIO
            } else if errno != EINTR {
                return errno
            }
        }
        return 0
    }

    /// Writes all bytes at the file's current position, and waits until they are on the disk.
    static func save(_ file: Int32, _ bytes: [UInt8], name: String) throws(StorageError) {
        try write(file, bytes, name: name)
        try synchronize(file, name: name)
    }

    /// Waits until the file is on the disk.
    static func synchronize(_ file: Int32, name: String) throws(StorageError) {
        guard fsync(file) == 0 else { throw .system("\(name) can't be written") }
    }
}

/// The signal `SIGPIPE`. A process gets it when it writes to a pipe that nobody reads, and it ends the process by
/// default.
enum PipeSignal {
    /// Runs a function in which such a write only returns an error.
    ///
    /// - Parameter work: writes, and returns 0 or the error number.
    /// - Returns: the result of the function.
    static func held(_ work: () -> Int32) -> Int32 {
        var signal = sigset_t()
        unsafe sigemptyset(&signal)
        unsafe sigaddset(&signal, SIGPIPE)
        var pending = sigset_t()
        unsafe sigpending(&pending)
        let wasPending = unsafe sigismember(&pending, SIGPIPE) == 1
        var before = sigset_t()
        unsafe pthread_sigmask(SIG_BLOCK, &signal, &before)
        defer { unsafe pthread_sigmask(SIG_SETMASK, &before, nil) }
        let number = work()
        if number == EPIPE, !wasPending {
            // The signal was sent to this thread, and is removed here, without waiting.
            var atOnce = timespec()
            _ = unsafe sigtimedwait(&signal, nil, &atOnce)
        }
        return number
    }
}
