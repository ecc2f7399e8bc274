// SPDX-License-Identifier: Apache-2.0
import NFCRuntime
import Testing

@testable import CoreNFC

/// Checks what is left of an app's declarations when a phone withholds some of them.
@Suite struct `Declarations that a phone withholds` {
    private typealias File = AppConfiguration.PropertyFile

    private static let usage = "NFCReaderUsageDescription"

    @Test func `are missing in the app's own files, and all others stay`() {
        let list = File(path: "App/Info.plist", values: [Self.usage: ["Why."], "other": ["kept"]])
        let rights = File(path: "App/App.entitlements", values: ["formats": ["TAG"]])
        let app = AppConfiguration(infoPlist: list, entitlements: rights, isStrict: true)
        #expect(app.without([.radio, .freeReader]) == app)
        let lesserRights = File(path: "App/App.entitlements", values: [:])
        #expect(
            app.without(.entitlement)
                == AppConfiguration(infoPlist: list, entitlements: lesserRights, isStrict: true)
        )
        let lesserList = File(path: "App/Info.plist", values: ["other": ["kept"]])
        #expect(
            app.without(.usageText) == AppConfiguration(infoPlist: lesserList, entitlements: rights, isStrict: true)
        )
        #expect(
            app.without([.entitlement, .usageText])
                == AppConfiguration(infoPlist: lesserList, entitlements: lesserRights, isStrict: true)
        )
    }

    @Test func `are missing in the files that an app without any would have`() {
        let none = AppConfiguration()
        #expect(none.without([]) == none)
        let rights = File(path: "the app's entitlements", values: [:])
        #expect(none.without(.entitlement) == AppConfiguration(entitlements: rights))
        let list = File(path: "the app's Info.plist", values: [:])
        #expect(none.without(.usageText) == AppConfiguration(infoPlist: list))
    }
}
