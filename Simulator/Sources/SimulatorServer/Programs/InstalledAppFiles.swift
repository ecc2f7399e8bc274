// SPDX-License-Identifier: Apache-2.0
public import BackgroundTagReading
import Foundation
import UniversalLinks

/// Finds the installed apps like the background service does: `nfc/apps/NAME.json` has the identifier and the
/// associated domains, `applications/NAME.desktop` the name and the schemes. The simulator's own folder has
/// `apps/NAME.json`, which also contains `name` and `schemes`, and `association-files/DOMAIN`.
public struct InstalledAppFiles: Sendable {
    private static let maximumFiles = 200

    /// The data folders: first the user's, then the system's.
    private let dataFolders: [String]
    /// The simulator's own folder.
    private let ownFolder: String

    /// Creates a search.
    ///
    /// - Parameters:
    ///   - dataFolders: the user's data folder, then the system's.
    ///   - ownFolder: the simulator's own folder.
    public init(dataFolders: [String], ownFolder: String) {
        self.dataFolders = dataFolders
        self.ownFolder = ownFolder
    }

    /// Finds the apps and the association files.
    ///
    /// - Returns: the router, and sentences about files that were skipped.
    public func find() -> (router: LinkRouter, remarks: [String]) {
        var apps: [InstalledApp] = []
        var remarks: [String] = []
        let places = [ownFolder + "/apps"] + dataFolders.map { $0 + "/nfc/apps" }
        for (index, place) in places.enumerated() {
            for name in Self.names(in: place, ending: ".json") {
                guard let bytes = Self.read(place + "/" + name, limit: AppDescription.maximumSize) else { continue }
                let stem = String(name.dropLast(5))
                do throws(AppError) {
                    let description = try AppDescription(parsing: bytes)
                    guard !apps.contains(where: { $0.id == description.id }) else { continue }
                    apps.append(app(description, stem, isOwn: index == 0, bytes))
                    remarks += description.remarks
                } catch {
                    remarks.append("\(place)/\(name) was skipped: \(error.reason)")
                }
            }
        }
        var associations: [String: LinkMatcher] = [:]
        for domain in Set(apps.flatMap(\.linkedDomains)) {
            guard let bytes = association(domain) else { continue }
            do throws(AssociationFileError) {
                associations[domain] = LinkMatcher(try AssociationFile(parsing: Data(bytes)))
            } catch {
                remarks.append("The association file of \(domain) was skipped: \(error.reason)")
            }
        }
        return (LinkRouter(apps: apps, associations: associations), remarks)
    }

    private func app(_ description: AppDescription, _ stem: String, isOwn: Bool, _ bytes: [UInt8]) -> InstalledApp {
        var name = String(stem.split(separator: ".").last ?? Substring(stem))
        var schemes: [String] = []
        var isBusActivated = false
        if isOwn, let own = try? JSONDecoder().decode(OwnFields.self, from: Data(bytes)) {
            if let text = own.name { name = DisplayText.plain(text, limit: 60) }
            schemes = (own.schemes ?? []).prefix(20).map { $0.lowercased() }
        }
        for folder in dataFolders where !isOwn {
            guard let file = Self.read(folder + "/applications/\(stem).desktop", limit: DesktopEntry.maximumSize),
                let entry = DesktopEntry(parsing: file)
            else { continue }
            name = entry.name
            schemes = entry.schemes
            isBusActivated = entry.isBusActivated
            break
        }
        return InstalledApp(
            id: description.id,
            name: name,
            desktopID: stem,
            associatedDomains: description.associatedDomains,
            ignoredDomains: description.ignoredDomains,
            schemes: schemes,
            isBusActivated: isBusActivated
        )
    }

    private struct OwnFields: Decodable {
        var name: String?
        var schemes: [String]?
    }

    private func association(_ domain: String) -> [UInt8]? {
        for name in [domain, domain + ".json"] {
            let path = ownFolder + "/association-files/" + name
            if let bytes = Self.read(path, limit: AssociationFile.maximumSize) { return bytes }
        }
        return nil
    }

    private static func names(in folder: String, ending: String) -> [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.filter { $0.hasSuffix(ending) && !$0.hasPrefix(".") }.sorted().prefix(maximumFiles).map { $0 }
    }

    private static func read(_ path: String, limit: Int) -> [UInt8]? {
        guard let attributes = try? FileManager.default.attributesOfItem(atPath: path),
            let size = attributes[.size] as? Int, size <= limit,
            let data = FileManager.default.contents(atPath: path)
        else { return nil }
        return [UInt8](data)
    }
}
