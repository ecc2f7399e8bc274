// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import SystemLibrary
import TestThreads
import Testing

@Suite(.ownThreads, .timeLimit(.minutes(5))) struct `A program that is started` {
    /// Runs a shell script, and returns its exit status and output.
    private func run(_ script: String, _ change: (inout ProgramLaunch) -> Void = { _ in }) throws -> (Int32, String) {
        let pipe = try #require(DescriptorPipe())
        var launch = ProgramLaunch("/bin/sh", ["/bin/sh", "-c", script, "a word"])
        launch.descriptors[1] = pipe.writer
        change(&launch)
        let process = try launch.start()
        close(pipe.writer)
        let bytes = FileHandle(fileDescriptor: pipe.reader, closeOnDealloc: true).readDataToEndOfFile()
        var status: Int32 = 0
        #expect(unsafe waitpid(process, &status, 0) == process)
        return (status, String(decoding: bytes, as: UTF8.self))
    }

    @Test func `It has its words, its variables and its folder, and nothing else`() throws {
        let (status, text) = try run("echo \"$0 $NAME $HOME\"; pwd; exit 3") { launch in
            launch.environment = ["NAME": "a value"]
            launch.folder = "/usr"
        }
        #expect(status == 3 << 8)
        #expect(text == "a word a value \n/usr\n")
    }

    @Test func `It has the descriptors that it is given, and none of ours`() throws {
        let ours = unsafe open("/dev/zero", O_RDONLY)
        defer { close(ours) }
        // Standard input and standard error are empty.
        let (_, text) = try run("read -r word; echo \"[$word]\"; echo lost >&2; ls -l /proc/self/fd")
        #expect(text.hasPrefix("[]\n"))
        #expect(!text.contains("/dev/zero"))
        #expect(text.contains("/dev/null"))
    }

    @Test func `It has none of ours between and above the numbers that it is given either`() throws {
        let ours = unsafe open("/dev/full", O_WRONLY | O_CLOEXEC)
        defer { close(ours) }
        // Leaked without close-on-exec: below and above the passed number.
        let leaked = [20, 30, 60].map { fcntl(ours, F_DUPFD, $0 as Int32) }
        defer { for descriptor in leaked { close(descriptor) } }
        try #require(leaked.allSatisfy { $0 >= 20 })
        let (_, text) = try run("ls -l /proc/self/fd; echo given >&\(leaked[1] + 1)") { launch in
            launch.path = "/usr/bin/env"
            launch.arguments = ["env", "bash", "-c"] + launch.arguments.dropFirst(2)
            launch.descriptors[leaked[1] + 1] = launch.descriptors[1]
        }
        #expect(text.contains("/dev/null") && text.hasSuffix("given\n"))
        #expect(!text.contains("/dev/full"), "\(text)")
    }

    @Test func `A program that was just written is started when nobody has it open any more`() throws {
        let path = "/tmp/nfc-tests-\(getpid())-\(UInt32.random(in: 0 ... .max))"
        defer { _ = unsafe unlink(path) }
        for round in 0..<50 {
            let file = unsafe open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o700)
            let script = Array("#!/bin/sh\nexit 7\n".utf8)
            #expect(unsafe write(file, script, script.count) == script.count)
            // On a thread of its own: other tests may use all threads of a queue.
            Thread.detachNewThread {
                // Once for longer than the tries alone take: without a pause between them, there would be no more left.
                if round == 0 { usleep(200_000) }
                close(file)
            }
            let process = try ProgramLaunch(path, [path]).start()
            var status: Int32 = 0
            #expect(unsafe waitpid(process, &status, 0) == process)
            #expect(status == 7 << 8)
        }
    }

    @Test func `Signals are as at first, and the terminal is not its own`() throws {
        let before = signal(SIGUSR1, SIG_IGN)
        defer { _ = signal(SIGUSR1, before) }
        let (status, _) = try run("kill -USR1 $$; exit 0")
        #expect(status & 0x7F == SIGUSR1)
        // Process, name, state, parent, group, session.
        let group = try run("cat /proc/$$/stat").1.split(separator: " ")
        #expect(group[0] == group[4] && group[0] != group[5])
        let session = try run("cat /proc/$$/stat") { $0.separation = .session }.1.split(separator: " ")
        #expect(session[0] == session[4] && session[0] == session[5])
    }

    @Test func `Descriptors whose numbers overlap reach the numbers that they are given`() throws {
        // Pipes in a ring: each is passed under the number that the next one has here.
        let rings = try (0..<6).map { _ in try #require(DescriptorPipe()) }
        defer { for ring in rings { close(ring.reader) } }
        let numbers = rings.map(\.writer)
        var launch = ProgramLaunch(
            "/bin/sh",
            ["/bin/sh", "-c", "for n in \"$@\"; do eval \"echo $n >&$n\"; done", "sh"]
        )
        for (index, number) in numbers.enumerated() {
            launch.descriptors[number] = numbers[(index + 1) % numbers.count]
            launch.arguments.append(String(number))
        }
        // The shell takes no number above 9 after >&.
        try #require(numbers.allSatisfy { $0 > 2 })
        launch.path = "/usr/bin/env"
        launch.arguments = ["env", "bash", "-c"] + launch.arguments.dropFirst(2)
        let process = try launch.start()
        #expect(waitpid(process, nil, 0) == process)
        for ring in rings { close(ring.writer) }
        for (index, number) in numbers.enumerated() {
            var buffer = [UInt8](repeating: 0, count: 64)
            let count = unsafe buffer.withUnsafeMutableBytes {
                unsafe read(rings[(index + 1) % 6].reader, $0.baseAddress, 64)
            }
            #expect(String(decoding: buffer.prefix(max(0, count)), as: UTF8.self) == "\(number)\n")
        }
    }

    @Test func `A zero byte in a word, a variable or a folder is refused`() {
        var words = ProgramLaunch("/bin/true", ["true", "safe\0 --delete-all"])
        #expect(throws: ProgramLaunch.Failure.self) { try words.start() }
        words.arguments = ["true"]
        words.environment = ["NAME": "a\0b"]
        #expect(throws: ProgramLaunch.Failure.self) { try words.start() }
        words.environment = nil
        words.folder = "/\0"
        #expect(#expect(throws: ProgramLaunch.Failure.self) { try words.start() }?.number == EINVAL)
        #expect(throws: ProgramLaunch.Failure.self) { try ProgramLaunch("/bin/true\0", ["true"]).start() }
    }

    @Test func `A descriptor that is closed is refused`() {
        var launch = ProgramLaunch("/bin/true", ["true"])
        launch.descriptors[1] = 1_000_000
        #expect(#expect(throws: ProgramLaunch.Failure.self) { try launch.start() }?.number == EBADF)
    }

    @Test func `What is no program says why`() {
        let failure = #expect(throws: ProgramLaunch.Failure.self) { try ProgramLaunch("/nowhere", ["x"]).start() }
        #expect(failure?.number == ENOENT)
        #expect(failure?.reason.isEmpty == false)
    }
}
