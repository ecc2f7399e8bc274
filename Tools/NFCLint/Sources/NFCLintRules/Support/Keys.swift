// SPDX-License-Identifier: Apache-2.0

/// The Core NFC keys in Info.plist and entitlements.
enum Keys {
    static let usage = "NFCReaderUsageDescription"
    static let formats = "com.apple.developer.nfc.readersession.formats"
    static let identifiers = "com.apple.developer.nfc.readersession.iso7816.select-identifiers"
    static let systemCodes = "com.apple.developer.nfc.readersession.felica.systemcodes"
    static let domains = "com.apple.developer.associated-domains"
    static let emulation = "com.apple.developer.nfc.hce"
    static let emulationPrefixes = "com.apple.developer.nfc.hce.iso7816.select-identifier-prefixes"
    static let defaultApp = "com.apple.developer.nfc.hce.default-contactless-app"
    static let capabilities = "UIRequiredDeviceCapabilities"

    static let all = [
        usage, formats, identifiers, systemCodes, domains, emulation, emulationPrefixes, defaultApp,
    ]
}
