// SPDX-License-Identifier: Apache-2.0
package import BackgroundTagReading
package import LinuxSupport

/// The desktop entries of the user and the system, and the apps that open each scheme.
package struct DesktopEntries: Sendable, Hashable {
    package struct Found: Sendable, Hashable {
        /// The entry's name without `.desktop`.
        package var name: String
        package var path: String
        package var entry: DesktopEntry
    }

    private let folders: UserFolders
    private let desktops: [String]

    /// - Parameter desktops: the names of the running desktop, in the format of `XDG_CURRENT_DESKTOP`.
    package init(_ folders: UserFolders, desktops: String = "") {
        self.folders = folders
        self.desktops = desktops.lowercased().split(separator: ":").prefix(8).map(String.init)
            .filter(DesktopEntry.isName)
    }

    /// Finds an entry by name. A user's entry hides a system entry with the same name.
    package func entry(_ name: String) throws(AppError) -> Found {
        guard DesktopEntry.isName(name) else { throw AppError("The name is not valid for a desktop entry.") }
        // A hyphen may also stand for a folder separator (Desktop Entry Specification 1.5, 2).
        var files = [name]
        if let hyphen = name.firstIndex(of: "-") {
            files.append("\(name[..<hyphen])/\(name[name.index(after: hyphen)...])")
        }
        for folder in folders.allData {
            for file in files {
                let path = "\(folder)/applications/\(file).desktop"
                let bytes: [UInt8]
                do throws(StorageError) {
                    bytes = try TrustedFile.read(path, limit: DesktopEntry.maximumSize)
                } catch  where error.code == .missing || error.code == .unsafe && file.contains("/") {
                    continue
                } catch {
                    throw AppError(error.reason)
                }
                guard let entry = DesktopEntry(parsing: bytes) else {
                    throw AppError("\(path) is not the desktop entry of a visible app.")
                }
                return Found(name: name, path: path, entry: entry)
            }
        }
        throw AppError("The desktop entry \(name).desktop is missing.")
    }

    /// Returns the apps that open URIs with a scheme, which must be in lower case. The default app is the first (MIME
    /// Applications Specification 1.0.1).
    package func handlers(of scheme: String, limit: Int = 4) -> [Found] { handlers(of: scheme, limit, lists) }

    package func handlers(of schemes: [String]) -> [String: [Found]] {
        let lists = lists
        return Dictionary(schemes.map { ($0, handlers(of: $0, 4, lists)) }) { first, _ in first }
    }

    private func handlers(of scheme: String, _ limit: Int, _ lists: Lists) -> [Found] {
        var seen: Set<String> = []
        var found: [Found] = []
        for name in lists.names("x-scheme-handler/\(scheme)") where found.count < limit && name.hasSuffix(".desktop") {
            guard seen.insert(name).inserted, let app = try? entry(String(name.dropLast(8))) else { continue }
            found.append(app)
        }
        return found
    }

    private struct Lists {
        var choices: [KeyFile]
        var caches: [KeyFile]

        func names(_ type: String) -> [String] {
            var names: [String] = []
            var others: [String] = []
            var removed: Set<String> = []
            for list in choices {
                names += list.list(type, in: "Default Applications")
                others += list.list(type, in: "Added Associations").filter { !removed.contains($0) }
                removed.formUnion(list.list(type, in: "Removed Associations"))
            }
            return names + others
                + caches.flatMap { $0.list(type, in: "MIME Cache").filter { !removed.contains($0) } }
        }
    }

    private var lists: Lists {
        let applications = folders.allData.map { $0 + "/applications" }
        let choices = (folders.allConfig + applications).flatMap { place in
            desktops.map { "\(place)/\($0)-mimeapps.list" } + ["\(place)/mimeapps.list"]
        }
        return Lists(
            choices: choices.compactMap(file),
            caches: applications.compactMap { file($0 + "/mimeinfo.cache") }
        )
    }

    private func file(_ path: String) -> KeyFile? {
        (try? TrustedFile.read(path, limit: DesktopEntry.maximumSize)).flatMap(KeyFile.init)
    }
}
