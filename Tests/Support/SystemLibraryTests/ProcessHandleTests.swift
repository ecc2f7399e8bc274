// SPDX-License-Identifier: Apache-2.0
import Glibc
import SystemLibrary
import Testing

@Suite(.serialized, .timeLimit(.minutes(5))) struct `A handle of a process` {
    private func sleeper() throws -> Int32 {
        try ProgramLaunch("/bin/sleep", ["sleep", "600"]).start()
    }

    @Test func `A signal reaches its process, and nobody once that has ended`() throws {
        let process = try sleeper()
        let handle = try #require(ProcessHandle(process))
        #expect(handle.number == process)
        #expect(handle.send(0))
        #expect(handle.send(SIGTERM))
        var status: Int32 = 0
        #expect(unsafe waitpid(process, &status, 0) == process)
        #expect(status == SIGTERM)
        #expect(!handle.send(SIGTERM))
        #expect(ProcessHandle(-1) == nil)
    }

    /// Makes the next process get an identifier, unless another process takes it.
    private static func makeNext(_ number: Int32) -> Bool {
        let file = unsafe open("/proc/sys/kernel/ns_last_pid", O_WRONLY | O_CLOEXEC)
        guard file >= 0 else { return false }
        defer { close(file) }
        let text = Array("\(number - 1)".utf8)
        return unsafe write(file, text, text.count) == text.count
    }

    @Test(.enabled(if: makeNext(getpid() + 1), "the numbers of processes can't be chosen here"))
    func `A process that has got the number is not reached`() throws {
        var (first, second): (Int32, Int32) = (0, -1)
        var ended: ProcessHandle?
        // Other tests start programs and threads too, and may be faster. One that lasts keeps the number, so another is tried.
        for _ in 0..<100 where second != first {
            first = try sleeper()
            ended = ProcessHandle(first)
            kill(first, SIGKILL)
            #expect(waitpid(first, nil, 0) == first)
            for _ in 0..<20 {
                try #require(Self.makeNext(first))
                second = try sleeper()
                if second == first { break }
                kill(second, SIGKILL)
                _ = waitpid(second, nil, 0)
            }
        }
        try #require(second == first)
        defer {
            kill(second, SIGKILL)
            _ = waitpid(second, nil, 0)
        }
        let handle = try #require(ended)
        #expect(!handle.send(SIGKILL))
        #expect(waitpid(second, nil, WNOHANG) == 0)
        #expect(kill(second, 0) == 0)
    }
}
