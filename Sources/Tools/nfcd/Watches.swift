// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import Dispatch
import Foundation
import Glibc
import LinuxSupport

/// Follows the cameras and the radio switches, which report changes.
final class DeviceWatch {
    /// How long to wait after the last of several changes before checking. So a program that opens and closes a camera
    /// all the time costs little.
    private static let settling = DispatchTimeInterval.milliseconds(200)

    private(set) var isCameraOpen: Bool?
    private(set) var radios: RadioSwitches?
    private let onChange: () -> Void
    private var files: FileWatch?
    private var radioWatch: ReadWatch?
    private var isWaiting = false
    private var lastLook = DispatchTime(uptimeNanoseconds: 0)

    init(onChange: @escaping () -> Void) {
        self.onChange = onChange
        files = FileWatch { [weak self] in self?.filesChanged() }
        look()
    }

    private func filesChanged() {
        let next = lastLook + Self.settling
        guard DispatchTime.now() < next else { return look() }
        guard !isWaiting else { return }
        isWaiting = true
        DispatchQueue.main.asyncAfter(deadline: next) { [weak self] in
            MainActor.assumeIsolated {
                self?.isWaiting = false
                self?.look()
            }
        }
    }

    private func look() {
        lastLook = .now()
        // Before the look, so that what comes meanwhile is not missed.
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
        // Not a DispatchSource: on Linux, one whose device disappears can crash the process.
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

    /// Each read returns one event. Newer systems have events longer than the requested size.
    ///
    /// - Returns: false when the device has disappeared.
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

    /// Starts to watch. Reports nothing if the system can't watch files.
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

    /// Adds what is at a path now. For what was added before this changes nothing; what can't be watched is left out.
    func add(_ path: String, _ events: Int32) { _ = unsafe inotify_add_watch(descriptor, path, UInt32(events)) }
}

extension DispatchSource {
    /// Calls a handler on the main queue whenever a descriptor has something to read.
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

    /// Reports changes in a folder of installed apps. The folder may be created and removed meanwhile.
    /// Returns nil if the system can't watch folders.
    static func watchingApps(in path: String, onChange: @escaping () -> Void) -> (any DispatchSourceRead)? {
        guard let watch = FolderWatch(path) else { return nil }
        // Events also come from the folders above it.
        return reading(watch.descriptor) { if watch.changes().isAny { onChange() } }
    }

    /// Reports that the addresses or the routes of this machine have changed, from the kernel's messages (rtnetlink(7)).
    /// Returns nil if the process can open no more.
    static func watchingNetwork(onChange: @escaping () -> Void) -> (any DispatchSourceRead)? {
        // The last number is `NETLINK_ROUTE`.
        let descriptor = socket(AF_NETLINK, CInt(SOCK_RAW.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
        guard descriptor != -1 else { return nil }
        // `sockaddr_nl`, with `RTMGRP_IPV4_IFADDR`, `RTMGRP_IPV4_ROUTE`, `RTMGRP_IPV6_IFADDR` and `RTMGRP_IPV6_ROUTE`.
        let groups: UInt32 = 0x10 | 0x40 | 0x100 | 0x400
        var address: (family: UInt16, padding: UInt16, number: UInt32, groups: UInt32) = (
            UInt16(AF_NETLINK), 0, 0, groups
        )
        // A socket that can't be bound reports nothing.
        _ = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe bind(descriptor, $0, 12) }
        }
        return reading(descriptor) {
            // It does not matter what changed, or whether messages were lost: the sites are asked in any case. Each further
            // message is an event of its own.
            var buffer = [UInt8](repeating: 0, count: 8 << 10)
            _ = unsafe recv(descriptor, &buffer, buffer.count, 0)
            onChange()
        }
    }
}

/// The files in which the system reports its state.
///
/// For tests, `NFC_SYSTEM_ROOT` adds another folder in front of their paths.
enum SystemFiles {
    private static let root = ProcessInfo.processInfo.environment["NFC_SYSTEM_ROOT"] ?? ""

    static func path(_ path: String) -> String { root + path }

    static var boot: String? { line("/proc/sys/kernel/random/boot_id") }

    /// Whether a connected display is on, as the graphics driver reports; nil if it reports no display.
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

    /// Whether a program has one of the given files open, as far as this user can see.
    static func isOpen(_ files: Set<String>) -> Bool {
        let real = Set(
            files.compactMap { file -> String? in
                guard let path = unsafe realpath(file, nil) else { return nil }
                defer { unsafe free(path) }
                return unsafe String(cString: path)
            }
        )
        // The system gives no longer target.
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
