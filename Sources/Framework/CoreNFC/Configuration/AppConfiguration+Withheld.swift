// SPDX-License-Identifier: Apache-2.0
import NFCSessions

extension AppConfiguration {
    /// The configuration of an app that lacks what a phone withholds.
    ///
    /// - Parameter needs: what is withheld.
    func without(_ needs: SessionNeeds) -> AppConfiguration {
        var configuration = self
        if needs.contains(.entitlement) {
            let path = entitlements?.path ?? "the app's entitlements"
            configuration.entitlements = PropertyFile(path: path, values: [:])
        }
        if needs.contains(.usageText) {
            var file = infoPlist ?? PropertyFile(path: "the app's Info.plist", values: [:])
            file.values[Key.usageDescription.rawValue] = nil
            configuration.infoPlist = file
        }
        return configuration
    }
}
