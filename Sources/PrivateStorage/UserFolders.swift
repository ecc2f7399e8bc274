// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The user's folders (XDG Base Directory Specification 0.8). Relative paths do not count.
public struct UserFolders: Sendable, Hashable {
    /// `XDG_DATA_HOME`.
    public let data: String
    /// `XDG_STATE_HOME`.
    public let state: String
    /// `XDG_CACHE_HOME`.
    public let cache: String
    /// `XDG_DATA_HOME` and then `XDG_DATA_DIRS`, in the order of their weight, each once.
    public let allData: [String]

    /// Finds the folders.
    ///
    /// - Parameter environment: the variables of the process.
    public init(environment: [String: String]) {
        func path(_ name: String) -> String? { environment[name].flatMap { $0.hasPrefix("/") ? $0 : nil } }
        let home = path("HOME") ?? Self.ownHome
        let data = path("XDG_DATA_HOME") ?? home + "/.local/share"
        self.data = data
        state = path("XDG_STATE_HOME") ?? home + "/.local/state"
        cache = path("XDG_CACHE_HOME") ?? home + "/.cache"
        let shared = environment["XDG_DATA_DIRS"].flatMap { $0.isEmpty ? nil : $0 } ?? "/usr/local/share:/usr/share"
        var all = [data]
        for folder in shared.split(separator: ":") where folder.hasPrefix("/") {
            var name = String(folder)
            while name.count > 1, name.hasSuffix("/") { name.removeLast() }
            if !all.contains(name), all.count < 64 { all.append(name) }
        }
        allData = all
    }

    private static var ownHome: String {
        guard let user = unsafe getpwuid(geteuid()), let home = unsafe user.pointee.pw_dir else { return "/" }
        return unsafe String(cString: home)
    }
}
