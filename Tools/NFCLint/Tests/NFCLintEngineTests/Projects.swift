// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine
import NFCLintRules

/// Small projects for tests.
enum Projects {
    static let reader = """
        import CoreNFC

        class Reader: NSObject, NFCNDEFReaderSessionDelegate {
            var session: NFCNDEFReaderSession?
            func scan() {
                session = NFCNDEFReaderSession(delegate: self, queue: .main, invalidateAfterFirstRead: false)
                session?.begin()
            }
        }

        """

    static let usage = "<key>NFCReaderUsageDescription</key><string>Badges are scanned to open doors.</string>"

    static func list(_ keys: String) -> String { "<plist version=\"1.0\"><dict>\(keys)</dict></plist>\n" }

    static func formats(_ values: String...) -> String {
        let strings = values.map { "<string>\($0)</string>" }.joined()
        return list("<key>com.apple.developer.nfc.readersession.formats</key><array>\(strings)</array>")
    }

    static func project(_ files: [String: String]) -> Project {
        Project(MemoryFiles(files.mapValues { Array($0.utf8) }))
    }

    static func ids(_ files: [String: String], _ configuration: LintConfiguration = LintConfiguration()) -> [String] {
        Linter(Rules.all, configuration: configuration).check(project(files)).map(\.id)
    }

    static func report(_ files: [String: String]) -> Report {
        let project = project(files)
        return Report(findings: Linter(Rules.all).check(project), project: project, rules: Rules.all)
    }

    /// A project of Xcode with one app.
    static func xcode(target: String, project: String = "") -> String {
        """
        // !$*UTF8*$!
        { objects = {
            P = { isa = PBXProject; mainGroup = G; targets = ( T ); buildConfigurationList = PL; };
            PL = { isa = XCConfigurationList; buildConfigurations = ( PC ); };
            PC = { isa = XCBuildConfiguration; name = Release; buildSettings = { \(project) }; };
            G = { isa = PBXGroup; sourceTree = "<group>"; children = ( F, X ); };
            F = { isa = PBXFileReference; path = Reader.swift; sourceTree = "<group>"; };
            X = { isa = PBXFileReference; path = App.xcconfig; sourceTree = "<group>"; };
            T = { isa = PBXNativeTarget; name = Doors; productType = "com.apple.product-type.application";
                  buildConfigurationList = TL; buildPhases = ( S ); };
            TL = { isa = XCConfigurationList; buildConfigurations = ( TC ); };
            TC = { isa = XCBuildConfiguration; name = Release; baseConfigurationReference = X;
                   buildSettings = { SDKROOT = iphoneos; \(target) }; };
            S = { isa = PBXSourcesBuildPhase; files = ( B ); };
            B = { isa = PBXBuildFile; fileRef = F; };
          }; rootObject = P; }
        """
    }
}
