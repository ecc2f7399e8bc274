// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import Testing

@testable import nfcd

/// The service's watch of files, which the main queue calls.
@Suite(.timeLimit(.minutes(3))) struct `The watch of files` {
    @MainActor private final class Count {
        var value = 0

        /// Waits until it has a value.
        func wait(for expected: Int) async throws {
            for _ in 0..<30_000 {
                if value >= expected { return }
                try await Task.sleep(for: .milliseconds(1))
            }
        }
    }

    private static func makeFile(_ path: String) throws {
        let file = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        try #require(file >= 0)
        close(file)
    }

    @MainActor @Test func `reports each change that it was asked for, once`() async throws {
        let folder = try ScratchFolder()
        let count = Count()
        let watch = FileWatch { count.value += 1 }
        watch.add(folder.path(""), Int32(IN_CREATE))
        // What was added before, and what can't be watched, changes nothing.
        watch.add(folder.path(""), Int32(IN_CREATE))
        watch.add(folder.path("missing"), Int32(IN_CREATE))
        for number in 1...3 {
            try Self.makeFile(folder.path("\(number)"))
            try await count.wait(for: number)
            #expect(count.value == number)
        }
        withExtendedLifetime(watch) {}
    }

    @MainActor @Test func `ends with its last use`() async throws {
        let folder = try ScratchFolder()
        // No other watch of this process asks for just these events.
        let events = Int32(IN_ACCESS | IN_ATTRIB | IN_MOVED_TO | IN_DELETE_SELF)
        func isWatched() throws -> Bool {
            try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fdinfo").contains { name in
                let text = try? String(contentsOfFile: "/proc/self/fdinfo/\(name)", encoding: .utf8)
                return text?.contains(" mask:\(String(events, radix: 16)) ") == true
            }
        }
        var watch: FileWatch? = FileWatch {}
        watch?.add(folder.path(""), events)
        #expect(try isWatched())
        watch = nil
        for _ in 0..<6_000 {
            guard try isWatched() else { break }
            try await Task.sleep(for: .milliseconds(5))
        }
        #expect(try !isWatched())
    }

    /// Watches a folder in a process of its own, where the watch gets the lowest number that a file can have.
    @MainActor private static func watchWithoutInput() async throws {
        let folder = try ScratchFolder()
        let count = Count()
        close(STDIN_FILENO)
        let watch = FileWatch { count.value += 1 }
        watch.add(folder.path(""), Int32(IN_CREATE))
        try makeFile(folder.path("1"))
        try await count.wait(for: 1)
        #expect(count.value == 1)
        withExtendedLifetime(watch) {}
    }

    @Test func `reports changes also where there is no standard input`() async {
        await #expect(processExitsWith: .success) { try await Self.watchWithoutInput() }
    }

    /// Follows devices in a process of its own, because the environment says where they are.
    @MainActor private static func followDevices() async throws {
        let folder = try ScratchFolder()
        try FileManager.default.createDirectory(atPath: folder.path("dev"), withIntermediateDirectories: false)
        unsafe setenv("NFC_SYSTEM_ROOT", folder.path(""), 1)
        let count = Count()
        let begin = ContinuousClock.now
        let devices = DeviceWatch { count.value += 1 }
        #expect(count.value == 1)
        try makeFile(folder.path("dev/video0"))
        try await count.wait(for: 2)
        #expect(count.value == 2 && devices.isCameraOpen == false)
        #expect(begin.duration(to: .now) >= .milliseconds(200))
        // The permissions of a device may come after the device.
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: folder.path("dev/video0"))
        try await count.wait(for: 3)
        #expect(count.value >= 3)
        withExtendedLifetime(devices) {}
    }

    @Test func `lets devices be looked at a moment later when they were looked at just now`() async {
        await #expect(processExitsWith: .success) { try await Self.followDevices() }
    }
}
