// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
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

    /// Makes devices one after the other in a process of its own, in less time than passes between two looks.
    @MainActor private static func makeDevices() async throws {
        let folder = try ScratchFolder()
        try FileManager.default.createDirectory(atPath: folder.path("dev"), withIntermediateDirectories: false)
        unsafe setenv("NFC_SYSTEM_ROOT", folder.path(""), 1)
        let count = Count()
        let begin = ContinuousClock.now
        let devices = DeviceWatch { count.value += 1 }
        for number in 0..<5 {
            try makeFile(folder.path("dev/video\(number)"))
            try await Task.sleep(for: .milliseconds(5))
        }
        try await count.wait(for: 2)
        // More looks would follow it at once.
        try await Task.sleep(for: .milliseconds(60))
        let time = begin.duration(to: .now)
        #expect(count.value <= 1 + Int(time / .milliseconds(200)), "\(time)")
        withExtendedLifetime(devices) {}
    }

    @Test func `lets devices be looked at once when several have come`() async {
        await #expect(processExitsWith: .success) { try await Self.makeDevices() }
    }

    /// Waits until something holds.
    @MainActor private static func wait(until isDone: () throws -> Bool) async throws {
        for _ in 0..<30_000 {
            if try isDone() { return }
            try await Task.sleep(for: .milliseconds(1))
        }
    }

    /// Whether this process has a file open whose path ends so.
    private static func hasOpen(_ name: String) throws -> Bool {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").contains { number in
            let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(number)")
            return target?.hasSuffix(name) == true
        }
    }

    /// Follows radio switches in a process of its own. A pipe is in the place of their device.
    @MainActor private static func followRadios() async throws {
        let folder = try ScratchFolder()
        try FileManager.default.createDirectory(atPath: folder.path("dev"), withIntermediateDirectories: false)
        unsafe setenv("NFC_SYSTEM_ROOT", folder.path(""), 1)
        let (pipe, device) = (folder.path("pipe"), folder.path("dev/rfkill"))
        try #require(unsafe mkfifo(pipe, 0o600) == 0)
        let count = Count()
        var watch: DeviceWatch?
        var told: Bool?
        for round in 0..<2 {
            let writer = unsafe open(pipe, O_RDWR | O_CLOEXEC)
            try #require(writer >= 0)
            let radios = FileHandle(fileDescriptor: writer, closeOnDealloc: true)
            // A radio that is blocked.
            radios.write(Data([0, 0, 0, 0, 1, 0, 0, 1]))
            try #require(unsafe link(pipe, device) == 0)
            if round == 0 {
                watch = DeviceWatch {
                    count.value += 1
                    told = watch?.radios?.isAirplaneModeOn
                }
                // What they are is known at once, and told once.
                #expect(count.value == 1 && watch?.radios?.isAirplaneModeOn == true)
            } else {
                try await wait { watch?.radios != nil }
                #expect(told == true && watch?.radios?.isAirplaneModeOn == true)
            }
            // Another look leaves them as they are.
            let looks = count.value
            try makeFile(folder.path("dev/video\(round)"))
            try await count.wait(for: looks + 1)
            #expect(watch?.radios?.isAirplaneModeOn == true)
            radios.write(Data([0, 0, 0, 0, 1, 2, 0, 0]))
            try await wait { watch?.radios?.isAirplaneModeOn == false }
            #expect(watch?.radios?.isAirplaneModeOn == false)
            try radios.close()
            try await wait { try watch?.radios == nil && !hasOpen("/dev/rfkill") }
            #expect(try watch?.radios == nil && !hasOpen("/dev/rfkill"))
            try #require(unsafe unlink(device) == 0)
        }
        withExtendedLifetime(watch) {}
    }

    @Test func `follows radio switches that come, go and come again`() async {
        await #expect(processExitsWith: .success) { try await Self.followRadios() }
    }

    /// Begins to watch in a process of its own, which can open no more.
    @MainActor private static func watchWithoutDescriptors() throws {
        let folder = try ScratchFolder()
        var limit = rlimit()
        unsafe getrlimit(__rlimit_resource_t(7), &limit)
        let before = limit.rlim_cur
        limit.rlim_cur = 0
        #expect(unsafe setrlimit(__rlimit_resource_t(7), &limit) == 0)
        let files = FileWatch {}
        let (network, apps) = (NetworkWatch(onChange: {}), AppFolderWatch(folder.path(""), onChange: {}))
        limit.rlim_cur = before
        #expect(unsafe setrlimit(__rlimit_resource_t(7), &limit) == 0)
        files.add(folder.path(""), Int32(IN_CREATE))
        #expect(network == nil && apps == nil)
    }

    @Test func `reports nothing where the process can open no more, and so does that of the network`() async {
        await #expect(processExitsWith: .success) { try await Self.watchWithoutDescriptors() }
    }

    @Test func `lets devices be looked at a moment later when they were looked at just now`() async {
        await #expect(processExitsWith: .success) { try await Self.followDevices() }
    }
}
