// SPDX-License-Identifier: Apache-2.0
package import BackgroundTagReading
package import LinuxSupport

extension LinkDeliverer {
    /// Creates a router from the installed apps, the fetched association files, the user's choices, and the desktop's
    /// default apps. Each association file is compiled once for this deliverer.
    ///
    /// - Parameter allowsCustomSchemes: whether custom schemes open their apps.
    package func router(allowsCustomSchemes: Bool = false) throws(StorageError) -> LinkRouter {
        let apps = InstalledApps(folders).apps
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
