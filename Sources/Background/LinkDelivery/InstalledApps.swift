// SPDX-License-Identifier: Apache-2.0
package import BackgroundTagReading
package import LinuxSupport

/// The installed apps, from `nfc/apps` (descriptions) and `applications` (desktop entries) in the data folders.
///
/// A user's file hides a system file with the same name.
package struct InstalledApps: Sendable, Hashable {
    /// An invalid description, or a part of a description that has no effect.
    package struct Problem: Sendable, Hashable {
        package var path: String
        package var reason: String
    }

    package static let maximumCount = 1000

    /// The apps. Each identifier occurs once.
    package private(set) var apps: [InstalledApp] = []
    package private(set) var problems: [Problem] = []
    /// The domains whose association files the apps need, in the order of the apps and without duplicates.
    package var domains: [String] {
        var seen: Set<String> = []
        return apps.flatMap(\.linkedDomains).filter { seen.insert($0).inserted }
    }

    package init(_ folders: UserFolders) {
        var seen: Set<String> = []
        var identifiers: Set<String> = []
        for folder in folders.allData {
            let own = folder + "/nfc/apps"
            for file in Self.descriptions(in: own) {
                let path = "\(own)/\(file)"
                guard seen.insert(file).inserted else { continue }
                do throws(AppError) {
                    let app = try read(path, String(file.dropLast(5)), folders)
                    guard identifiers.insert(app.id).inserted else {
                        throw AppError("Another app already has the identifier \(app.id).")
                    }
                    apps.append(app)
                } catch {
                    problems.append(Problem(path: path, reason: error.reason))
                }
            }
        }
    }

    private static func descriptions(in folder: String) -> [String] {
        FolderNames.read(folder, limit: maximumCount) { $0.hasSuffix(".json") && $0 != ".json" } ?? []
    }

    private mutating func read(
        _ path: String,
        _ name: String,
        _ folders: UserFolders
    ) throws(AppError) -> InstalledApp {
        guard DesktopEntry.isName(name) else { throw AppError("The file name is not valid for a desktop entry.") }
        let description: AppDescription
        do {
            description = try AppDescription(parsing: TrustedFile.read(path, limit: AppDescription.maximumSize))
        } catch {
            throw error as? AppError ?? AppError("\(error)")
        }
        let entry = try DesktopEntries(folders).entry(name).entry
        problems += description.remarks.map { Problem(path: path, reason: $0) }
        return InstalledApp(
            id: description.id,
            name: entry.name,
            desktopID: name,
            associatedDomains: description.associatedDomains,
            ignoredDomains: description.ignoredDomains,
            schemes: entry.schemes,
            isBusActivated: entry.isBusActivated
        )
    }
}

extension LinkChoices {
    /// The file's name in the folder `nfc` of the configuration folder.
    private static var name: String { "browser-domains" }

    package init(of folders: UserFolders) {
        let bytes = try? TrustedFile.read("\(folders.config)/nfc/\(Self.name)", limit: Self.maximumSize)
        self.init(parsing: bytes ?? [])
    }

    package func save(in folders: UserFolders) throws(StorageError) {
        try PrivateFolder(store: folders.config + "/nfc").replace(Self.name, with: file)
    }
}
