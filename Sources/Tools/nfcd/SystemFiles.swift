// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The files in which the system reports its state.
///
/// For tests, `NFC_SYSTEM_ROOT` adds another folder in front of their paths.
enum SystemFiles {
    private static let root = ProcessInfo.processInfo.environment["NFC_SYSTEM_ROOT"] ?? ""

    static func path(_ path: String) -> String { root + path }

    /// The identifier of the current boot; nil if the system does not have one.
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

    /// The device files of cameras.
    static var cameras: Set<String> {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path("/dev"))) ?? []
        return Set(names.filter { isCamera($0) }.map { path("/dev/" + $0) })
    }

    /// Whether a device file in `/dev` is that of a camera, by its name.
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
