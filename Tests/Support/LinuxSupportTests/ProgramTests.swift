// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import LinuxSupport
import ProgramTesting
import TestThreads
import Testing

/// Programs that are started and ended, and what they get of this process.
@Suite(.ownThreads, .timeLimit(.minutes(5))) struct ProgramTests {
    /// Runs a script of the shell.
    ///
    /// - Returns: its status, as `waitpid` gives it, and its output.
    @discardableResult
    private static func run(
        _ script: String,
        shell: String = "/bin/sh",
        _ change: (inout ProgramLaunch) -> Void = { _ in }
    ) throws -> (status: Int32, output: String) {
        let pipe = try #require(DescriptorPipe())
        var launch = ProgramLaunch(shell, [shell, "-c", script, "a word"])
        launch.descriptors[1] = pipe.writer
        change(&launch)
        let process = try launch.start()
        close(pipe.writer)
        let bytes = FileHandle(fileDescriptor: pipe.reader, closeOnDealloc: true).readDataToEndOfFile()
        var status: Int32 = 0
        #expect(unsafe waitpid(process, &status, 0) == process)
        return (status, String(decoding: bytes, as: UTF8.self))
    }

    /// Waits for the end of a child process. It holds the thread.
    private static func end(of process: Int32) async -> Int32 {
        var status: Int32 = 0
        _ = unsafe waitpid(process, &status, 0)
        return status
    }

    private static var openCount: Int {
        get throws { try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count }
    }

    // MARK: What it gets

    @Test func `Program arguments, variables and folder: the given ones, or those of this process`() throws {
        let given = try Self.run("echo \"$0 $NAME $HOME\"; pwd; exit 3") { launch in
            launch.environment = ["NAME": "a value"]
            launch.folder = "/usr"
        }
        #expect(given == (3 << 8, "a word a value \n/usr\n"))
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        let folder = FileManager.default.currentDirectoryPath
        #expect(try Self.run("echo \"$PATH\"; pwd").output == "\(path)\n\(folder)\n")
    }

    @Test func `Program streams that are not given: /dev/null`() throws {
        let text = try Self.run("for n in 0 2; do readlink /proc/$$/fd/$n; done; cat; echo x >&2 && echo written")
            .output
        #expect(text == "/dev/null\n/dev/null\nwritten\n")
    }

    @Test
    func `Program descriptors: only the listed ones are inherited, under their numbers; a failed start leaks none`()
        async
    {
        await #expect(processExitsWith: .success) {
            let before = try Self.openCount
            let ours = unsafe open("/dev/full", O_WRONLY)
            // Not marked to be closed in programs: below and above a given one.
            let leaked = [3, 20, 30, 60].map { fcntl(ours, F_DUPFD, $0 as Int32) }
            let number = leaked[2] + 1
            let (_, text) = try Self.run("ls -l /proc/self/fd; echo given >&\(number)", shell: "/bin/bash") { launch in
                launch.descriptors[number] = launch.descriptors[1]
            }
            #expect(text.contains("/dev/null") && text.hasSuffix("given\n") && !text.contains("/dev/full"), "\(text)")
            for descriptor in leaked + [ours] { close(descriptor) }
            var launch = ProgramLaunch("/nowhere", ["true"])
            for number: Int32 in 3..<8 { launch.descriptors[number] = 2 }
            for _ in 0..<32 { #expect(throws: ProgramLaunch.Failure.self) { try launch.start() } }
            #expect(try Self.openCount < before + 16)
        }
    }

    @Test func `Program descriptors whose numbers overlap: each reaches its number`() throws {
        for isRing in [true, false] {
            let pipes = try (0..<6).map { _ in try #require(DescriptorPipe()) }
            // In a ring, each is passed under the number that the next one has here; or under free numbers.
            let free = fcntl(2, F_DUPFD_CLOEXEC, 300)
            close(free)
            let numbers = isRing ? pipes.map(\.writer) : (free..<free + 6).map { $0 }
            var launch = ProgramLaunch(
                "/bin/bash",
                ["bash", "-c", "for n in \"$@\"; do eval \"echo $n >&$n\"; done", "sh"]
            )
            for (index, number) in numbers.enumerated() {
                launch.descriptors[number] = pipes[(index + 1) % 6].writer
                launch.arguments.append(String(number))
            }
            #expect(waitpid(try launch.start(), nil, 0) > 0)
            for pipe in pipes { close(pipe.writer) }
            for (index, number) in numbers.enumerated() {
                let reader = FileHandle(fileDescriptor: pipes[(index + 1) % 6].reader, closeOnDealloc: true)
                #expect(reader.readDataToEndOfFile() == Data("\(number)\n".utf8), "\(isRing)")
            }
        }
    }

    @Test func `Program signals: default handlers, none blocked; its own process group or session`() async throws {
        let before = signal(SIGUSR1, SIG_IGN)
        defer { _ = signal(SIGUSR1, before) }
        #expect(try Self.run("kill -USR1 $$; exit 0").status & 0x7F == SIGUSR1)
        let status = try await withCheckedThrowingContinuation { continuation in
            // A thread of its own, whose mask no other test has.
            Thread {
                var signals = sigset_t()
                unsafe sigemptyset(&signals)
                unsafe sigaddset(&signals, SIGUSR2)
                unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
                continuation.resume(with: Result { try Self.run("kill -USR2 $$; exit 9").status })
            }.start()
        }
        #expect(status & 0x7F == SIGUSR2)
        // Process, name, state, parent, group, session.
        let group = try Self.run("cat /proc/$$/stat").output.split(separator: " ")
        #expect(group[0] == group[4] && group[0] != group[5])
        let session = try Self.run("cat /proc/$$/stat") { $0.separation = .session }.output.split(separator: " ")
        #expect(session[0] == session[4] && session[0] == session[5])
    }

    @Test func `Program file that is still open for writing: started when it is closed`() throws {
        let folder = try TestFolder()
        let path = folder.path("program")
        let file = unsafe open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o700)
        let script = Array("#!/bin/sh\nexit 7\n".utf8)
        #expect(unsafe write(file, script, script.count) == script.count)
        Thread.detachNewThread {
            // Longer than the tries take without a pause between them.
            usleep(100_000)
            close(file)
        }
        var status: Int32 = 0
        #expect(unsafe waitpid(try ProgramLaunch(path, [path]).start(), &status, 0) > 0 && status == 7 << 8)
    }

    @Test
    func `Program that can't be started: a zero byte is EINVAL, a closed descriptor EBADF, a missing file ENOENT`() {
        let rows: [(Int32, (inout ProgramLaunch) -> Void)] = [
            (EINVAL, { $0.arguments = ["true", "safe\0 --delete-all"] }),
            (EINVAL, { $0.environment = ["NAME": "a\0b"] }),
            (EINVAL, { $0.environment = ["a\0b": "c"] }), (EINVAL, { $0.folder = "/\0" }),
            (EINVAL, { $0.path = "/bin/true\0" }), (EBADF, { $0.descriptors[1] = 1_000_000 }),
            (ENOENT, { $0.path = "/nowhere" }), (ENOENT, { $0.folder = "/nowhere" }),
        ]
        for (index, row) in rows.enumerated() {
            var launch = ProgramLaunch("/bin/true", ["true"])
            row.1(&launch)
            let failure = #expect(throws: ProgramLaunch.Failure.self) { try launch.start() }
            #expect(failure?.number == row.0 && failure?.reason.isEmpty == false, "\(index)")
        }
    }

    // MARK: Its end

    @Test func `Lifeline script: runs in its own session when the owner is killed, and not after the lifeline was cut`()
        async throws
    {
        let folder = try TestFolder()
        let file = folder.path("it's done")
        await #expect(processExitsWith: .signal(SIGKILL)) { [file = file as String] in
            let script = #"read -r stat <"/proc/$$/stat"; echo "$1 $stat" >"$0.new"; mv "$0.new" "$0""#
            #expect(Lifeline(script: script, words: [file, "word"]) != nil)
            kill(getpid(), SIGKILL)
        }
        try await waitWhile(!folder.has("it's done"))
        // The word; process, name, state, parent, group, session.
        let fields = folder.text("it's done").split(separator: " ")
        try #require(fields.count > 6)
        #expect(fields[0] == "word" && fields[1] == fields[5] && fields[1] == fields[6])
        let lifeline = try #require(Lifeline(script: #": >"$0""#, words: [folder.path("cut")]))
        // This waits for the end of what would do it.
        lifeline.cut()
        #expect(!folder.has("cut"))
        await #expect(processExitsWith: .success) {
            var ends: [Int32] = [-1, -1]
            // Without the mark that closes them in programs.
            #expect(unsafe pipe(&ends) == 0)
            let lifeline = try #require(Lifeline(script: ":", words: []))
            close(ends[1])
            // The other end is closed, unless the lifeline's shell still has it.
            var byte: UInt8 = 0
            #expect(unsafe read(ends[0], &byte, 1) == 0)
            lifeline.cut()
            #expect(waitpid(-1, nil, WNOHANG) == -1 && errno == ECHILD)
        }
    }

    @Test
    func `Lifeline of a process of any name: SIGTERM if the owner is killed, none after a cut or to other processes`()
        async throws
    {
        // More than a system has at most (proc(5), pid_max).
        #expect(Lifeline(ending: 1 << 22 + 1) == nil)
        let folder = try TestFolder()
        let path = folder.path("a) b (c) S")
        try ProgramFile.copy("/bin/sleep", to: path)
        let process = try ProgramLaunch(path, [path, "600"]).start()
        let other = try ProgramLaunch(path, [path, "600"]).start()
        try #require(Lifeline(ending: process)).cut()
        #expect(waitpid(process, nil, WNOHANG) == 0)
        // waitpid for the test's process does not report other children, so this one is waited for separately.
        async let end = Self.end(of: process)
        await #expect(processExitsWith: .signal(SIGKILL)) { [process = process as Int32] in
            #expect(Lifeline(ending: process) != nil)
            kill(getpid(), SIGKILL)
        }
        let status = await end
        #expect(status == SIGTERM)
        #expect(waitpid(other, nil, WNOHANG) == 0)
        kill(other, SIGKILL)
        #expect(waitpid(other, nil, 0) == other)
    }

    // MARK: Looking for programs and libraries

    @Test func `Program path: the first executable file in absolute folders, also behind a link`() throws {
        let folder = try TestFolder()
        for (name, mode) in [("text", 0o644), ("program", 0o755)] {
            try folder.write(name, "#", mode: mode)
            try #require(unsafe symlink(name, folder.path("link-\(name)")) == 0)
        }
        for (name, isProgram) in [
            ("text", false), ("program", true), ("link-text", false), ("link-program", true), ("nothing", false),
            ("", false),
        ] { #expect(ProgramPath.isProgram(folder.path(name)) == isProgram, "\(name)") }
        for (name, folders, found) in [
            ("sh", "bin:/nowhere:/bin:/usr/bin", "/bin/sh"), ("sh", "bin:", nil), ("sh", "", nil),
            ("self", "/proc", nil),
            ("program", "/bin:\(folder.path)", folder.path("program")), ("text", "/bin:\(folder.path)", nil),
            ("program", "\(folder.path):\(folder.path)/.:/bin", folder.path("program")),
        ] as [(String, String, String?)] { #expect(ProgramPath.find(name, in: folders) == found, "\(name) \(folders)") }
        let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        #expect(ProgramPath.own == own)
        #expect(ProgramPath.ownFolder == URL(fileURLWithPath: own).deletingLastPathComponent().path)
    }

    @Test func `System library: the first installed one is loaded; a missing library or function is nil`() throws {
        typealias Absolute = @convention(c) (CInt) -> CInt
        for names in [["libc.so.6"], ["libnfc-there-is-none.so.9", "libc.so.6"]] {
            let library = try #require(names.count == 1 ? SystemLibrary(names[0]) : SystemLibrary(names[0], names[1]))
            let absolute = try #require(unsafe library.function("abs", as: Absolute.self))
            #expect(absolute(-7) == 7)
            #expect(unsafe library.function("nfc_there_is_none", as: Absolute.self) == nil)
        }
        #expect(SystemLibrary("libnfc-there-is-none.so.9") == nil && SystemLibrary() == nil)
    }
}
