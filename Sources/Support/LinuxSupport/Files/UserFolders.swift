// SPDX-License-Identifier: Apache-2.0
import CLinuxSupport
import Glibc

/// The user's folders (XDG Base Directory Specification 0.8). Relative paths are ignored.
public struct UserFolders: Sendable, Hashable {
    /// `XDG_DATA_HOME`.
    public let data: String
    /// `XDG_STATE_HOME`.
    public let state: String
    /// `XDG_CACHE_HOME`.
    public let cache: String
    /// `XDG_CONFIG_HOME`.
    public let config: String
    /// `XDG_CONFIG_HOME` and then `XDG_CONFIG_DIRS`, in order of preference, without duplicates.
    public let allConfig: [String]
    /// `XDG_DATA_HOME` and then `XDG_DATA_DIRS`, in order of preference, without duplicates.
    public let allData: [String]

    /// Finds the folders.
    ///
    /// - Parameter environment: the process's environment variables.
    public init(environment: [String: String]) {
        func path(_ name: String) -> String? { environment[name].flatMap { $0.hasPrefix("/") ? $0 : nil } }
        func all(_ own: String, _ name: String, _ usual: String) -> [String] {
            var all = [own]
            let shared = environment[name].flatMap { $0.isEmpty ? nil : $0 } ?? usual
            for folder in shared.split(separator: ":") where folder.hasPrefix("/") {
                var name = String(folder)
                while name.count > 1, name.hasSuffix("/") { name.removeLast() }
                if !all.contains(name), all.count < 64 { all.append(name) }
            }
            return all
        }
        let home = path("HOME") ?? Self.ownHome
        data = path("XDG_DATA_HOME") ?? home + "/.local/share"
        state = path("XDG_STATE_HOME") ?? home + "/.local/state"
        cache = path("XDG_CACHE_HOME") ?? home + "/.cache"
        config = path("XDG_CONFIG_HOME") ?? home + "/.config"
        allData = all(data, "XDG_DATA_DIRS", "/usr/local/share:/usr/share")
        allConfig = all(config, "XDG_CONFIG_DIRS", "/etc/xdg")
    }

    private static var ownHome: String {
        guard let user = unsafe getpwuid(geteuid()), let home = unsafe user.pointee.pw_dir else { return "/" }
        return unsafe String(cString: home)
    }
}

package enum EnvironmentVariable {
    /// Returns the value of a variable; nil when it is unset.
    /// The result is nil in a program that runs with other rights than its caller's (set-user-ID, file capabilities),
    /// because the caller must not choose the paths and sockets that the program uses. See secure_getenv(3).
    package static func value(_ name: String) -> String? {
        unsafe ocn_environment_value(name).map { unsafe String(cString: $0) }
    }
}
