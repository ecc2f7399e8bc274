// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine

extension Rule {
    static let requiredFramework = Rule(
        id: "CFG035",
        severity: .warning,
        title: "Core NFC is not linked weakly for iOS versions before 13",
        why: """
            iOS 12 has Core NFC only on devices with NFC. On others, an app that requires the framework ends at \
            launch: "Library not loaded: CoreNFC.framework".
            """,
        fix: """
            Add CoreNFC.framework to Link Binary With Libraries and set it to Optional, or raise the minimum iOS version \
            to 13.
            """,
        bad: [
            linking("12.0", "{sdk: CoreNFC.framework}")
                + Example.tagReader,
            linking("12.0", "{sdk: UIKit.framework}")
                + Example.tagReader,
            .file("App.xcodeproj/project.pbxproj", project(""))
                + Example.tagReader,
        ],
        good: [
            linking("10.0", "{sdk: UIKit.framework}")
                + Example.tagReader,
            linking("13.0", "{sdk: CoreNFC.framework}")
                + Example.tagReader,
            linking("12.0", "{sdk: CoreNFC.framework, weak: true}")
                + Example.tagReader,
            linking("12.0", "{sdk: CoreNFC.framework}")
                + Example.plist(
                    "<key>UIRequiredDeviceCapabilities</key><array><string>nfc</string></array>"
                )
                + Example.tagReader,
            .file("App.xcodeproj/project.pbxproj", project("settings = { ATTRIBUTES = ( Weak ); };"))
                + Example.tagReader,
            .file("App.xcodeproj/project.pbxproj", project("", flags: "$(inherited) -weak_framework CoreNFC"))
                + Example.tagReader,
        ],
        check: { unit, findings in
            let own = unit.index.files.lazy.filter { unit.ownFiles.contains($0.path) }.compactMap(\.coreNFCImport)
            for variant in unit.appVariants where variant.requiredNFC == nil {
                guard let minimum = variant.minimum, minimum < Version(13) else { continue }
                let result = "The app supports iOS \(minimum), and ends at launch on a device that has no Core NFC."
                switch variant.link {
                case .required(let place): findings.add(place, result)
                // Before iOS 11, all of Core NFC is newer than the app, so the linker makes it optional.
                // A plugin's pod may link it as optional.
                case .automatic where minimum >= Version(11) && unit.plugin == nil:
                    findings.add(own.first, "This import links Core NFC as required. \(result)")
                default: break
                }
            }
        }
    )

    /// An XcodeGen project with a dependency.
    private static func linking(_ minimum: String, _ dependency: String) -> Example {
        var example = Example.minimum(minimum)
        example.files[0].text += "    dependencies:\n      - \(dependency)\n"
        return example
    }

    /// An Xcode project for iOS 12 that links Core NFC.
    private static func project(_ link: String, flags: String = "") -> String {
        """
        // !$*UTF8*$!
        { objects = {
            P = { isa = PBXProject; mainGroup = G; targets = ( T ); };
            G = { isa = PBXGroup; sourceTree = "<group>"; children = ( N ); };
            N = { isa = PBXFileReference; path = System/Library/Frameworks/CoreNFC.framework; sourceTree = SDKROOT; };
            T = { isa = PBXNativeTarget; name = App; productType = "com.apple.product-type.application";
                  buildConfigurationList = L; buildPhases = ( F ); };
            L = { isa = XCConfigurationList; buildConfigurations = ( C ); };
            C = { isa = XCBuildConfiguration; name = Release;
                  buildSettings = { IPHONEOS_DEPLOYMENT_TARGET = 12.0; OTHER_LDFLAGS = "\(flags)"; }; };
            F = { isa = PBXFrameworksBuildPhase; files = ( B ); };
            B = { isa = PBXBuildFile; fileRef = N; \(link) };
          }; rootObject = P; }
        """
    }
}
