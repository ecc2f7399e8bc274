// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine

extension Rule {
    /// Core NFC has to exist at launch, also on devices that lack it.
    static let requiredFramework = Rule(
        id: "CFG035",
        severity: .warning,
        title: "Core NFC is not linked weakly for iOS versions before 13",
        why: """
            iOS 12 has Core NFC only on devices with NFC. On others, an app that requires the framework ends at \
            launch: "Library not loaded: CoreNFC.framework".
            """,
        fix: "Set CoreNFC.framework to Optional in Link Binary With Libraries, or raise the minimum iOS version to 13.",
        bad: [
            linking("12.0", "{sdk: CoreNFC.framework}")
                + Example.tagReader,
            .file("App.xcodeproj/project.pbxproj", project(""))
                + Example.tagReader,
        ],
        good: [
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
            for variant in unit.appVariants where variant.requiredNFC == nil {
                guard let place = variant.requiredLink, let minimum = variant.minimum, minimum < Version(13) else {
                    continue
                }
                findings.add(
                    place,
                    "The app supports iOS \(minimum), and ends at launch on a device that has no Core NFC."
                )
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
