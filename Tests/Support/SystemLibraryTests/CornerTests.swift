// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Foundation
import Glibc
import SystemLibrary
import TestThreads
import Testing

@Suite(.timeLimit(.minutes(5))) struct `Descriptors of this process` {
    private static func flags(_ descriptor: Int32) -> (isClosedInPrograms: Bool, blocks: Bool) {
        (fcntl(descriptor, F_GETFD) & FD_CLOEXEC != 0, fcntl(descriptor, F_GETFL) & O_NONBLOCK == 0)
    }

    @Test(arguments: [true, false]) func `of a pipe are closed in programs, and wait where that is wanted`(blocks: Bool)
        throws
    {
        let pipe = try #require(DescriptorPipe(blocks: blocks))
        defer { for end in [pipe.reader, pipe.writer] { close(end) } }
        for end in [pipe.reader, pipe.writer] { #expect(Self.flags(end) == (true, blocks)) }
        #expect(unsafe write(pipe.writer, "ab", 2) == 2)
        var bytes = [UInt8](repeating: 0, count: 4)
        #expect(unsafe read(pipe.reader, &bytes, 4) == 2 && bytes == [0x61, 0x62, 0, 0])
        if !blocks { #expect(unsafe read(pipe.reader, &bytes, 4) == -1 && errno == EAGAIN) }
    }

    /// The descriptors that lead to a file.
    private static func count(of path: String) throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count {
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")) == path
        }
    }

    @Test func `are closed after a folder was read, or could not be read`() throws {
        let folder = "/tmp/nfc-tests-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        for name in ["c", "a", "b"] { try Data().write(to: URL(fileURLWithPath: "\(folder)/\(name)")) }
        let descriptor = unsafe open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        defer { close(descriptor) }
        #expect(FolderNames.read(descriptor) == ["a", "b", "c"] && FolderNames.read(descriptor, limit: 2)?.count == 2)
        #expect(FolderNames.read(descriptor) { String(decoding: $0, as: UTF8.self).uppercased() } == ["A", "B", "C"])
        #expect(FolderNames.read(descriptor, limit: 0) == [] && FolderNames.read(-1) == nil)
        #expect(FolderNames.read(folder) { $0 > "a" } == ["b", "c"])
        #expect(try Self.count(of: folder) == 1)
        let file = unsafe open(folder + "/a", O_RDONLY | O_CLOEXEC)
        defer { close(file) }
        #expect(FolderNames.read(file) == nil && errno == ENOTDIR)
    }

    @Test func `of a folder with much that is not wanted are read in bounds`() throws {
        let folder = "/tmp/nfc-tests-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        for index in 0..<150 { try Data().write(to: URL(fileURLWithPath: "\(folder)/\(index)")) }
        var asked = 0
        _ = FolderNames.read(folder, limit: 1) { _ in
            asked += 1
            return false
        }
        // A hundred entries for each that is wanted, with the folder itself and the one above.
        #expect((98...100).contains(asked))
        #expect(FolderNames.read(folder)?.count == 150)
    }

    @Test(.ownThreads) func `of a process are closed with its handle`() async {
        // In a process of its own, since other tests open descriptors too.
        await #expect(processExitsWith: .success) {
            let before = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
            for _ in 0..<64 { #expect(ProcessHandle(getpid())?.send(0) == true) }
            #expect(try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count < before + 48)
        }
    }
}

@Suite(.timeLimit(.minutes(5))) struct `What ends with this process` {
    @Test(.ownThreads) func `A lifeline's script runs when the process is gone, however it goes`() async throws {
        let file = "/tmp/nfc-tests-\(UUID().uuidString)"
        defer { _ = unsafe unlink(file) }
        await #expect(processExitsWith: .signal(SIGKILL)) { [file = file as String] in
            let lifeline = Lifeline(script: #"echo "$1" >"$0.new"; mv "$0.new" "$0""#, words: [file, "a word"])
            #expect(lifeline != nil)
            kill(getpid(), SIGKILL)
        }
        while unsafe access(file, F_OK) != 0 { try await Task.sleep(for: .milliseconds(5)) }
        #expect(try String(contentsOfFile: file, encoding: .utf8) == "a word\n")
    }

    @Test(.ownThreads) func `A lifeline's shell has a session of its own, so that no terminal ends it`() async throws {
        let file = "/tmp/nfc-tests-\(UUID().uuidString)"
        defer { _ = unsafe unlink(file) }
        await #expect(processExitsWith: .signal(SIGKILL)) { [file = file as String] in
            let script = #"read -r stat <"/proc/$$/stat"; echo "$stat" >"$0.new"; mv "$0.new" "$0""#
            #expect(Lifeline(script: script, words: [file]) != nil)
            kill(getpid(), SIGKILL)
        }
        while unsafe access(file, F_OK) != 0 { try await Task.sleep(for: .milliseconds(5)) }
        // Process, name, state, parent, group, session.
        let fields = try String(contentsOfFile: file, encoding: .utf8).split(separator: " ")
        try #require(fields.count > 5)
        #expect(fields[0] == fields[4] && fields[0] == fields[5])
    }

    @Test(.ownThreads) func `A process is ended when this one is gone, and stays when the lifeline is cut`()
        async throws
    {
        let process = try ProgramLaunch("/bin/sleep", ["sleep", "600"]).start()
        var status: Int32 = 0
        try #require(Lifeline(ending: process)).cut()
        #expect(unsafe waitpid(process, &status, WNOHANG) == 0)
        // waitpid for the test's process does not report other children, so this one is waited for separately.
        async let end = processEnd(process)
        await #expect(processExitsWith: .signal(SIGKILL)) { [process = process as Int32] in
            #expect(Lifeline(ending: process) != nil)
            kill(getpid(), SIGKILL)
        }
        status = await end
        #expect(status == SIGTERM)
    }

    @Test(.ownThreads) func `A lifeline that was cut leaves no descriptor and no child`() async {
        // In a process of its own, since other tests open descriptors too.
        await #expect(processExitsWith: .success) {
            let before = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
            for _ in 0..<48 { try #require(Lifeline(script: ":", words: [])).cut() }
            #expect(try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count < before + 32)
        }
    }
}

@Suite(.ownThreads, .timeLimit(.minutes(5))) struct `What a program gets that is started` {
    /// What a script of the shell prints.
    private static func output(
        _ script: String,
        _ change: (inout ProgramLaunch) -> Void = { _ in }
    ) throws -> String {
        let pipe = try #require(DescriptorPipe())
        var launch = ProgramLaunch("/bin/sh", ["/bin/sh", "-c", script])
        launch.descriptors[1] = pipe.writer
        change(&launch)
        let process = try launch.start()
        close(pipe.writer)
        let bytes = FileHandle(fileDescriptor: pipe.reader, closeOnDealloc: true).readDataToEndOfFile()
        #expect(waitpid(process, nil, 0) == process)
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test func `Standard streams that are not given are empty: it reads nothing, and what it writes is nowhere`() throws
    {
        let text = try Self.output("for n in 0 2; do readlink /proc/$$/fd/$n; done; cat; echo x >&2 && echo written")
        #expect(text == "/dev/null\n/dev/null\nwritten\n")
        let silent = ProgramLaunch("/bin/sh", ["/bin/sh", "-c", "echo lost && exit 5"])
        var status: Int32 = 0
        #expect(unsafe waitpid(try silent.start(), &status, 0) > 0 && status == 5 << 8)
    }

    @Test func `Without variables of its own it has those of this process, and no folder of its own`() throws {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        #expect(try Self.output("echo \"$PATH\"; pwd") == "\(path)\n\(FileManager.default.currentDirectoryPath)\n")
        #expect(
            try Self.output("echo \"[$PATH]\"; env | grep -c NFC_") { $0.environment = ["NFC_A": "1", "NFC_B": "2"] }
                .hasSuffix("2\n")
        )
    }

    @Test(.ownThreads) func `Nothing of this process's descriptors stays after it was started`() async {
        // In a process of its own, since other tests open descriptors too.
        await #expect(processExitsWith: .success) {
            let before = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
            for _ in 0..<48 { #expect(try Self.output("echo a") == "a\n") }
            #expect(try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count < before + 32)
        }
    }
}

@Suite struct `Libraries of the system` {
    @Test func `are opened when they are there, with their functions`() throws {
        let library = try #require(SystemLibrary("libc.so.6"))
        typealias Absolute = @convention(c) (CInt) -> CInt
        let absolute = try #require(unsafe library.function("abs", as: Absolute.self))
        #expect(absolute(-7) == 7)
        #expect(unsafe library.function("nfc_there_is_none", as: Absolute.self) == nil)
        #expect(SystemLibrary("libnfc-there-is-none.so.9") == nil)
        // The first one that is there.
        let other = try #require(SystemLibrary("libnfc-there-is-none.so.9", "libc.so.6"))
        let otherAbsolute = try #require(unsafe other.function("abs", as: Absolute.self))
        #expect(otherAbsolute(-3) == 3)
    }

    @Test func `A variable of the environment has its value, and none where it is not set`() {
        #expect(EnvironmentVariable.value("PATH") == ProcessInfo.processInfo.environment["PATH"])
        #expect(EnvironmentVariable.value("NFC_THERE_IS_NONE") == nil)
    }
}

@Suite(.timeLimit(.minutes(3))) struct `A watch of a folder in one that this user can't read` {
    @Test(.ownThreads) func `notices by the folder itself that it has another place`() async throws {
        let root = "/tmp/nfc-tests-\(UUID().uuidString)"
        let closed = root + "/closed"
        try FileManager.default.createDirectory(atPath: closed + "/a", withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: root) }
        await #expect(processExitsWith: .success) { [root = root as String, closed = closed as String] in
            #expect(unsafe chmod(root, 0o711) == 0 && chmod(closed + "/a", 0o755) == 0)
            // Root can read everything.
            if geteuid() == 0 { #expect(unsafe chown(closed, 12345, 12345) == 0 && seteuid(12345) == 0) }
            #expect(unsafe chmod(closed, 0o300) == 0)
            let watch = FolderWatch(closed + "/a")
            #expect(watch?.isThere == true)
            #expect(unsafe rename(closed + "/a", closed + "/b") == 0)
            let changes = watch?.changes()
            #expect(changes?.isThere == false && changes?.isAny == true)
            #expect(unsafe chmod(closed, 0o700) == 0 && seteuid(getuid()) == 0)
        }
    }
}
