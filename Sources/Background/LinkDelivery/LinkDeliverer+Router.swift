// SPDX-License-Identifier: Apache-2.0
public import BackgroundStorage
public import BackgroundTagReading
import LinkFetching
public import PrivateStorage

extension LinkDeliverer {
    /// Where links go now: by the installed apps, the association files that were fetched, the person's choices, and what
    /// the desktop has apps for. An association file is compiled when it is met first, and kept for this deliverer.
    ///
    /// - Parameters:
    ///   - apps: the installed apps.
    ///   - allowsCustomSchemes: whether an app's own scheme opens it.
    public func router(
        apps: InstalledApps? = nil,
        allowsCustomSchemes: Bool = false
    ) throws(StorageError) -> LinkRouter {
        let apps = (apps ?? InstalledApps(folders)).apps
        let openers = openers
        return LinkRouter(
            apps: apps,
            associations: try LinkCache(of: folders).matchers(of: apps.flatMap(\.linkedDomains), compiled: compiled),
            allowsCustomSchemes: allowsCustomSchemes,
            choices: LinkChoices(of: folders),
            unopenedSchemes: openers.unopenedSchemes,
            schemesWithoutBrowser: openers.schemesWithoutBrowser,
            browserNames: openers.browserNames
        )
    }
}
