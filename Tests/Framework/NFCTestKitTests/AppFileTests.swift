// SPDX-License-Identifier: Apache-2.0
import Foundation
import NFCTestKit
import Testing

/// The files that an app is built with, in a folder that is removed at the end.
@Suite struct `An app's property list and entitlements` {
    static let usage = "To stamp your tickets."
    static let formats = "com.apple.developer.nfc.readersession.formats"

    func inFolder(_ body: (URL) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try body(folder)
    }

    @Test(arguments: [PropertyListSerialization.PropertyListFormat.xml, .binary])
    func `Are read as XML and as binary lists`(format: PropertyListSerialization.PropertyListFormat) throws {
        try inFolder { folder in
            func write(_ name: String, _ list: [String: Any]) throws -> String {
                let file = folder.appending(path: name)
                try PropertyListSerialization.data(fromPropertyList: list, format: format, options: 0).write(to: file)
                return file.path
            }
            let app = try AppProperties(
                contentsOf: try write(
                    "Info.plist",
                    ["NFCReaderUsageDescription": Self.usage, "UIMainStoryboard": [:]]
                ),
                entitlements: try write(
                    "App.entitlements",
                    [Self.formats: ["TAG", "NDEF"], "com.apple.developer.nfc.hce": true, "get-task-allow": false]
                )
            )
            #expect(app.infoPlist == ["NFCReaderUsageDescription": "To stamp your tickets."])
            #expect(
                app.entitlements == [
                    Self.formats: ["TAG", "NDEF"], "com.apple.developer.nfc.hce": true, "get-task-allow": false,
                ]
            )
        }
    }

    @Test(arguments: [PropertyListSerialization.PropertyListFormat.xml, .binary])
    func `Have flags, and numbers are none`(format: PropertyListSerialization.PropertyListFormat) throws {
        try inFolder { folder in
            let file = folder.appending(path: "App.entitlements")
            let list: [String: Any] = ["set": true, "not set": false, "one": 1, "none": 0, "real": 1.0]
            try PropertyListSerialization.data(fromPropertyList: list, format: format, options: 0).write(to: file)
            let app = try AppProperties(contentsOf: nil, entitlements: file.path)
            #expect(app.entitlements == ["set": true, "not set": false])
        }
    }

    @Test func `Are not asked for where they are not named`() throws {
        let app = try AppProperties(contentsOf: nil)
        #expect(app.infoPlist == nil && app.entitlements == nil)
    }

    @Test func `Are named where they are missing, with the folder in which they were looked for`() throws {
        let error = #expect(throws: FieldError.self) { try AppProperties(contentsOf: "App/Missing.plist") }
        #expect(error?.code == .badAppFile)
        #expect(error?.reason.contains("App/Missing.plist") == true)
        #expect(error?.reason.contains(FileManager.default.currentDirectoryPath) == true)
        let other = #expect(throws: FieldError.self) {
            try AppProperties(contentsOf: nil, entitlements: "App/Missing.entitlements")
        }
        #expect(other?.reason.contains("The app's entitlements can't be read.") == true)
    }

    @Test(arguments: ["", "no list", "<plist><array/></plist>", "<plist><dict>"])
    func `Are refused where they are no property list with keys`(text: String) throws {
        try inFolder { folder in
            let file = folder.appending(path: "Info.plist")
            try Data(text.utf8).write(to: file)
            let error = #expect(throws: FieldError.self) { try AppProperties(contentsOf: file.path) }
            #expect(error?.code == .badAppFile)
            #expect(error?.reason.contains("\(file.path), is no property list") == true)
            // A folder is no file.
            #expect(throws: FieldError(.badAppFile, "")) { try AppProperties(contentsOf: folder.path) }
        }
    }

    @Test func `Are read up to a mebibyte, and not beyond`() throws {
        try inFolder { folder in
            let file = folder.appending(path: "Info.plist")
            let head = "<plist><dict><key>NFCReaderUsageDescription</key><string>x</string></dict></plist>"
            for (size, isRead) in [(1 << 20, true), ((1 << 20) + 1, false)] {
                let text = head + String(repeating: "\n", count: size - head.utf8.count)
                try Data(text.utf8).write(to: file)
                let app = try? AppProperties(contentsOf: file.path)
                #expect((app?.infoPlist == ["NFCReaderUsageDescription": "x"]) == isRead, "\(size)")
            }
        }
    }
}
