// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import Dispatch
import Foundation
import Glibc
import LinuxSupport

final class DeviceWatch {
    /// The minimum time between checks, so that a program that constantly opens and closes a camera costs little.
    private static let settling = DispatchTimeInterval.milliseconds(200)

    private(set) var isCameraOpen: Bool?
    private(set) var radios: RadioSwitches?
    private let onChange: () -> Void
    private var files: FileWatch?
    private var radioWatch: ReadWatch?
    private var isWaiting = false
    private var lastCheck = DispatchTime(uptimeNanoseconds: 0)

    init(onChange: @escaping () -> Void) {
        self.onChange = onChange
        files = FileWatch { [weak self] in self?.filesChanged() }
        check()
    }

    private func filesChanged() {
        let next = lastCheck + Self.settling
        guard DispatchTime.now() < next else { return check() }
        guard !isWaiting else { return }
        isWaiting = true
        DispatchQueue.main.asyncAfter(deadline: next) { [weak self] in
            MainActor.assumeIsolated {
                self?.isWaiting = false
                self?.check()
            }
        }
    }

    private func check() {
        lastCheck = .now()
        // Add the watches before checking, so that no change is missed.
        files?.add(SystemFiles.path("/dev"), Int32(IN_CREATE | IN_DELETE | IN_ATTRIB))
        let cameras = SystemFiles.cameras
        for camera in cameras { files?.add(camera, Int32(IN_OPEN | IN_CLOSE_WRITE | IN_CLOSE_NOWRITE)) }
        isCameraOpen = cameras.isEmpty ? nil : SystemFiles.isOpen(cameras)
        openRadios()
        onChange()
    }

    private func openRadios() {
        guard radioWatch == nil else { return }
        let descriptor = unsafe open(SystemFiles.path("/dev/rfkill"), O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        radios = RadioSwitches()
        // Not a DispatchSource, which can crash on Linux if its device disappears.
        radioWatch = ReadWatch(descriptor, queue: .main) { [weak self] in
            MainActor.assumeIsolated { self?.readRadios(descriptor) ?? false }
        } onClose: {
            close(descriptor)
        }
        guard radioWatch != nil else {
            close(descriptor)
            return
        }
        readRadios(descriptor, isFirst: true)
    }

    /// Reads all pending events, one per read. On newer systems, events are longer than the requested size.
    ///
    /// - Returns: false if the device has disappeared.
    @discardableResult
    private func readRadios(_ descriptor: CInt, isFirst: Bool = false) -> Bool {
        var event = [UInt8](repeating: 0, count: RadioSwitches.eventSize)
        var count: Int
        repeat {
            count = unsafe read(descriptor, &event, event.count)
            if count == event.count { radios?.take(event) }
        } while count == event.count
        guard !isFirst else { return true }
        if count == 0 { (radioWatch, radios) = (nil, nil) }
        onChange()
        return count != 0
    }
}

final class FileWatch {
    private let descriptor: CInt
    private let source: (any DispatchSourceRead)?

    /// Starts watching. Reports nothing if the system can't watch files.
    init(_ onChange: @escaping () -> Void) {
        let descriptor = inotify_init1(CInt(IN_CLOEXEC) | CInt(IN_NONBLOCK))
        self.descriptor = descriptor
        source =
            descriptor < 0
            ? nil
            : DispatchSource.reading(descriptor, closesAtEnd: true) {
                var buffer = [UInt8](repeating: 0, count: 16 << 10)
                while unsafe read(descriptor, &buffer, buffer.count) > 0 {}
                onChange()
            }
    }

    isolated deinit { source?.cancel() }

    /// Watches the file or folder at a path. Does nothing if it is already watched or can't be watched.
    func add(_ path: String, _ events: Int32) { _ = unsafe inotify_add_watch(descriptor, path, UInt32(events)) }
}

extension DispatchSource {
    /// Calls a handler on the main queue whenever a descriptor is readable.
    static func reading(
        _ descriptor: CInt,
        closesAtEnd: Bool = false,
        _ handler: @escaping @MainActor () -> Void
    ) -> any DispatchSourceRead {
        let source = makeReadSource(fileDescriptor: descriptor, queue: .main)
        source.setEventHandler { MainActor.assumeIsolated { handler() } }
        if closesAtEnd { source.setCancelHandler { close(descriptor) } }
        source.activate()
        return source
    }

    /// Reports changes in a folder of installed apps, even if the folder is created or removed later. Returns nil if
    /// the system can't watch folders.
    static func watchingApps(in path: String, onChange: @escaping () -> Void) -> (any DispatchSourceRead)? {
        guard let watch = FolderWatch(path) else { return nil }
        // Parent folders are watched too, so ignore their events.
        return reading(watch.descriptor) { if watch.changes().isAny { onChange() } }
    }

    /// Reports changes of this machine's addresses and routes (rtnetlink(7)). Returns nil if no socket can be opened.
    static func watchingNetwork(onChange: @escaping () -> Void) -> (any DispatchSourceRead)? {
        // The last argument, 0, is `NETLINK_ROUTE`.
        let descriptor = socket(AF_NETLINK, CInt(SOCK_RAW.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
        guard descriptor != -1 else { return nil }
        // A `sockaddr_nl` with `RTMGRP_IPV4_IFADDR`, `RTMGRP_IPV4_ROUTE`, `RTMGRP_IPV6_IFADDR` and `RTMGRP_IPV6_ROUTE`.
        let groups: UInt32 = 0x10 | 0x40 | 0x100 | 0x400
        var address: (family: UInt16, padding: UInt16, number: UInt32, groups: UInt32) = (
            UInt16(AF_NETLINK), 0, 0, groups
        )
        // If binding fails, the socket simply reports nothing.
        _ = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe bind(descriptor, $0, 12) }
        }
        return reading(descriptor) {
            // The content and any lost messages don't matter, because any change causes a new check. Each further
            // message causes another event.
            var buffer = [UInt8](repeating: 0, count: 8 << 10)
            _ = unsafe recv(descriptor, &buffer, buffer.count, 0)
            onChange()
        }
    }
}

/// The files that report the system's state.
///
/// In tests, `NFC_SYSTEM_ROOT` is prepended to their paths.
enum SystemFiles {
    private static let root = ProcessInfo.processInfo.environment["NFC_SYSTEM_ROOT"] ?? ""

    static func path(_ path: String) -> String { root + path }

    static var boot: String? { line("/proc/sys/kernel/random/boot_id") }

    /// Whether a connected display is on, according to the graphics driver; nil if there is no display.
    static var isDisplayLit: Bool? {
        let folder = "/sys/class/drm"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path(folder))) ?? []
        let states = names.compactMap { name -> Bool? in
            guard line("\(folder)/\(name)/status") == "connected" else { return nil }
            return line("\(folder)/\(name)/dpms").map { $0 == "On" }
        }
        return states.isEmpty ? nil : states.contains(true)
    }

    static var cameras: Set<String> {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path("/dev"))) ?? []
        return Set(names.filter { isCamera($0) }.map { path("/dev/" + $0) })
    }

    static func isCamera(_ name: String) -> Bool {
        name.hasPrefix("video") && name.dropFirst(5).allSatisfy(\.isNumber)
    }

    /// Whether any visible process has one of the given files open.
    static func isOpen(_ files: Set<String>) -> Bool {
        let real = Set(
            files.compactMap { file -> String? in
                guard let path = unsafe realpath(file, nil) else { return nil }
                defer { unsafe free(path) }
                return unsafe String(cString: path)
            }
        )
        // The system never returns a longer target.
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        for process in (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        where process.allSatisfy(\.isNumber) {
            let folder = "/proc/\(process)/fd"
            for name in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] {
                let count = unsafe readlink("\(folder)/\(name)", &buffer, buffer.count)
                guard count > 0 else { continue }
                let target = String(decoding: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
                if real.contains(target) { return true }
            }
        }
        return false
    }

    private static func line(_ name: String) -> String? {
        let text = try? String(contentsOfFile: path(name), encoding: .utf8)
        return text?.split(separator: "\n").first.map(String.init)
    }
}
