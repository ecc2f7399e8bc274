// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import ProgramTesting
import SystemLibrary
import TestThreads
import Testing

@Suite(.ownThreads, .timeLimit(.minutes(5))) struct `The start of a program` {
    /// Runs a script, and returns how it ended.
    private static func status(_ script: String, _ change: (inout ProgramLaunch) -> Void = { _ in }) throws -> Int32 {
        var launch = ProgramLaunch("/bin/sh", ["/bin/sh", "-c", script])
        change(&launch)
        var status: Int32 = 0
        let process = try launch.start()
        #expect(unsafe waitpid(process, &status, 0) == process)
        return status
    }

    @Test func `Standard input that is not given can be read, and has nothing`() throws {
        #expect(try Self.status("cat && exit 9") == 9 << 8)
        #expect(try Self.status("read -r line && exit 8; exit 9") == 9 << 8)
    }

    @Test func `It has all three standard streams, whichever of them it is given`() throws {
        let zero = unsafe open("/dev/zero", O_RDWR | O_CLOEXEC)
        defer { close(zero) }
        let script = "for n in 0 1 2; do test -e /proc/$$/fd/$n || exit 8; done; exit 9"
        #expect(try Self.status(script) == 9 << 8)
        for number: Int32 in 0...3 {
            #expect(try Self.status(script) { $0.descriptors[number] = zero } == 9 << 8, "\(number)")
        }
    }

    @Test func `A signal that this thread blocks reaches it`() async throws {
        let status = try await withCheckedThrowingContinuation { continuation in
            // A thread of its own, whose mask no other test has.
            Thread {
                var signals = sigset_t()
                unsafe sigemptyset(&signals)
                unsafe sigaddset(&signals, SIGUSR2)
                unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
                continuation.resume(with: Result { try Self.status("kill -USR2 $$; exit 9") })
            }.start()
        }
        #expect(status & 0x7F == SIGUSR2)
    }

    @Test func `It inherits nothing that it was not given, even if that is not closed in programs`() async {
        await #expect(processExitsWith: .success) {
            // Nothing is given, so that all above the standard streams is closed.
            let inherited = try #require(unsafe [open("/dev/zero", O_RDONLY)].first)
            let script = "test -e /proc/$$/fd/\(inherited) && exit 9; exit 8"
            #expect(try Self.status(script) == 8 << 8)
            #expect(try Self.status(script) { $0.descriptors[inherited] = inherited } == 9 << 8)
            // The first number above the standard streams.
            let third = "test -e /proc/$$/fd/3 && exit 9; exit 8"
            dup2(inherited, 3)
            #expect(try Self.status(third) == 8 << 8)
            #expect(try Self.status(third) { $0.descriptors[5] = inherited } == 8 << 8)
        }
    }

    @Test func `A program that somebody writes all the time is not started in the end`() throws {
        let path = "/tmp/nfc-tests-\(UUID().uuidString)"
        defer { _ = unsafe unlink(path) }
        try ProgramFile.copy("/bin/true", to: path)
        let file = unsafe open(path, O_WRONLY | O_CLOEXEC)
        defer { close(file) }
        try #require(file >= 0)
        let failure = #expect(throws: ProgramLaunch.Failure.self) {
            // If it starts after all, it is waited for: what is left would hide the ends of other processes.
            waitpid(try ProgramLaunch(path, [path]).start(), nil, 0)
        }
        #expect(failure?.number == ETXTBSY)
    }

    @Test func `A failure has the system's words`() {
        let failure = #expect(throws: ProgramLaunch.Failure.self) { try ProgramLaunch("/nowhere", ["x"]).start() }
        #expect(failure?.reason == "No such file or directory")
        var launch = ProgramLaunch("/bin/true", ["true"])
        launch.environment = ["a\0b": "c"]
        #expect(#expect(throws: ProgramLaunch.Failure.self) { try launch.start() }?.number == EINVAL)
        launch.environment = [:]
        launch.folder = "/nowhere"
        #expect(#expect(throws: ProgramLaunch.Failure.self) { try launch.start() }?.number == ENOENT)
    }

    @Test func `A process is ended with this one whatever its name, and only that one`() async throws {
        let folder = "/tmp/nfc-tests-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        for name in ["a) b", "(c) 1 2", "d"] {
            let path = "\(folder)/\(name)"
            try ProgramFile.copy("/bin/sleep", to: path)
            let process = try ProgramLaunch(path, [path, "600"]).start()
            let other = try ProgramLaunch(path, [path, "600"]).start()
            // A child task: it blocks one of the test's own threads, and no thread of the pool.
            async let end = processEnd(process)
            await #expect(processExitsWith: .signal(SIGKILL)) { [process = process as Int32] in
                #expect(Lifeline(ending: process) != nil)
                kill(getpid(), SIGKILL)
            }
            let status = await end
            #expect(status == SIGTERM, "\(name)")
            #expect(waitpid(other, nil, WNOHANG) == 0)
            kill(other, SIGKILL)
            #expect(waitpid(other, nil, 0) == other)
        }
    }
}

@Suite struct `Programs and libraries that are looked for` {
    @Test func `The first library that is installed is opened`() {
        #expect(SystemLibrary("libnfc-there-is-none.so.9", "libc.so.6") != nil)
        #expect(SystemLibrary("libc.so.6", "libnfc-there-is-none.so.9") != nil)
        #expect(SystemLibrary() == nil)
    }

    @Test func `A program is a file that may be run, also behind a link`() throws {
        let folder = "/tmp/nfc-tests-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        for (name, mode) in [("text", 0o644), ("program", 0o755)] {
            #expect(FileManager.default.createFile(atPath: "\(folder)/\(name)", contents: Data([0x23])))
            #expect(unsafe chmod("\(folder)/\(name)", mode_t(mode)) == 0)
            #expect(unsafe symlink(name, "\(folder)/link-\(name)") == 0)
        }
        #expect(!ProgramPath.isProgram("\(folder)/text") && ProgramPath.isProgram("\(folder)/program"))
        #expect(!ProgramPath.isProgram("\(folder)/link-text") && ProgramPath.isProgram("\(folder)/link-program"))
        #expect(!ProgramPath.isProgram(folder) && !ProgramPath.isProgram("\(folder)/nothing"))
        #expect(ProgramPath.find("program", in: "/bin:\(folder)") == "\(folder)/program")
        #expect(ProgramPath.find("program", in: "\(folder):\(folder)/.:/bin") == "\(folder)/program")
        #expect(ProgramPath.find("text", in: "/bin:\(folder)") == nil && ProgramPath.find("sh", in: "") == nil)
    }

    @Test func `The own program is where the system says`() throws {
        let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        #expect(ProgramPath.own == own)
        #expect(ProgramPath.ownFolder == URL(fileURLWithPath: own).deletingLastPathComponent().path)
    }

    @Test func `Of a folder with much that is not wanted a hundred entries are read for each that is wanted`() throws {
        let folder = "/tmp/nfc-tests-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        for index in 0..<250 { try Data().write(to: URL(fileURLWithPath: "\(folder)/\(index)")) }
        let descriptor = unsafe open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        defer { close(descriptor) }
        for (limit, count) in [(1, 100), (2, 200), (3, 252), (.max, 252)] {
            var asked = 0
            // No name is wanted, and this sees the folder itself and the one above too.
            let names = FolderNames.read(descriptor, limit: limit) { _ in
                asked += 1
                return "."
            }
            #expect(names == [] && asked == count, "\(limit)")
        }
        #expect(FolderNames.read(descriptor)?.count == 250)
    }

    @Test(.ownThreads) func `A variable that is set to nothing has a value`() async {
        await #expect(processExitsWith: .success) {
            unsafe setenv("NFC_EMPTY", "", 1)
            #expect(EnvironmentVariable.value("NFC_EMPTY") == "")
        }
    }
}
