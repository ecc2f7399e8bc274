// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import Foundation
import UniversalLinks

/// The installation files in a program's bundle, as built by the package manager. The folder `Installation` contains
/// the app's description, its desktop entry and the association files of its domains.
struct BundledApp: Sendable {
    let app: InstalledApp
    let associations: [String: LinkMatcher]

    /// Loads the installation files of a running program; nil if there are none.
    init?(pid: Int32) {
        guard let program = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(pid)/exe") else {
            return nil
        }
        self.init(program: program)
    }

    /// Loads the installation files of a program; nil if there are none.
    ///
    /// - Parameter program: the program's path.
    init?(program: String) {
        let url = URL(filePath: program)
        let folder = url.deletingLastPathComponent().path
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        let ending = "_\(url.lastPathComponent).resources"
        guard let bundle = names.sorted().first(where: { $0.hasSuffix(ending) }) else { return nil }
        let place = "\(folder)/\(bundle)/Installation"
        let files = ((try? FileManager.default.contentsOfDirectory(atPath: place)) ?? []).sorted()
        guard let name = files.first(where: { $0.hasSuffix(".json") }),
            let bytes = Self.read("\(place)/\(name)", limit: AppDescription.maximumSize),
            let description = try? AppDescription(parsing: bytes)
        else { return nil }
        let stem = String(name.dropLast(5))
        let entry = Self.read("\(place)/\(stem).desktop", limit: DesktopEntry.maximumSize).flatMap(
            DesktopEntry.init(parsing:)
        )
        app = InstalledApp(
            id: description.id,
            name: entry?.name ?? url.lastPathComponent,
            desktopID: stem,
            associatedDomains: description.associatedDomains,
            ignoredDomains: description.ignoredDomains,
            schemes: entry?.schemes ?? []
        )
        let path = "\(place)/apple-app-site-association"
        let file = Self.read(path, limit: AssociationFile.maximumSize).flatMap {
            try? AssociationFile(parsing: Data($0))
        }
        var associations: [String: LinkMatcher] = [:]
        if let file { for domain in app.linkedDomains { associations[domain] = LinkMatcher(file) } }
        self.associations = associations
    }

    private static func read(_ path: String, limit: Int) -> [UInt8]? {
        guard let handle = FileHandle(forReadingAtPath: path), let data = try? handle.read(upToCount: limit + 1),
            data.count <= limit
        else { return nil }
        return [UInt8](data)
    }
}
