// SPDX-License-Identifier: Apache-2.0
import BackgroundStorage
import BackgroundTagReading
import LinkFetching
import PrivateStorage
import UserBus

/// Where links go, and opening them.
nonisolated struct Opener: Sendable {
    let folders: UserFolders
    private let allowsCustomSchemes: Bool

    init(_ environment: [String: String], _ folders: UserFolders, allowsCustomSchemes: Bool) {
        self.folders = folders
        self.allowsCustomSchemes = allowsCustomSchemes
    }

    /// Where links go now.
    func router() throws(StorageError) -> LinkRouter {
        let apps = InstalledApps(folders).apps
        let associations = try LinkCache(of: folders).matchers(of: apps.flatMap(\.linkedDomains))
        return LinkRouter(apps: apps, associations: associations, allowsCustomSchemes: allowsCustomSchemes)
    }

    /// Opens what a tag has. It waits.
    ///
    /// - Returns: why it could not be opened; nil when it is open.
    func open(_ delivery: Delivery, token: String?) -> String? {
        do throws(BusError) {
            switch delivery {
            case .app(let app, let payload): _ = try UserBus().deliver(payload, to: app)
            case .customScheme(let app, let uri): try UserBus().open(uri, in: app)
            case .browser, .system: return "not yet"
            }
            return nil
        } catch {
            return error.reason
        }
    }
}
