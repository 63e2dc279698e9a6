// The built-in grammars by model.

// What `local/commands-en` listens for. A word outside it is never heard: add it here, with a sample in test/fixtures/audio.
/** JSGF: one command, number, time, date or answer a turn. Singular and plural are tied to their numbers: it helps the ear. */
export const COMMANDS_EN = `#JSGF V1.0;
grammar commands_en;

public <turn> = <answer> | <number> | <moment> | <date> | <question> | [please] <action> [please];

<action> = <home> | <media> | <timer> | <call> | <go> | <screen>;

<answer> = yes | yeah | yep | yes please | no | nope | no thanks | no thank you | okay | sure | maybe | correct | wrong
  | that's (right | wrong) | i don't know | good (morning | afternoon | evening | night) | goodbye
  | thank you | thanks | help | help me | cancel | cancel that | stop | start | continue | repeat that | say that again
  | never mind | go on | wait | ready | done | undo | sorry | excuse me;

<number> = (zero | <tens> | <hundreds> | <thousands>) [percent | degrees | dollars];
<digit> = one | two | three | four | five | six | seven | eight | nine;
<teen> = ten | eleven | twelve | thirteen | fourteen | fifteen | sixteen | seventeen | eighteen | nineteen;
<ty> = twenty | thirty | forty | fifty | sixty | seventy | eighty | ninety;
<many> = two | three | four | five | six | seven | eight | nine | <teen> | <ty> [<digit>];
<tens> = <digit> | <teen> | <ty> [<digit>];
<hundreds> = (a | <digit>) hundred [[and] <tens>];
<thousands> = (a | <tens> | <hundreds>) thousand [and <tens> | <hundreds>];

<moment> = [at] <clock> | noon | midnight;
<clock> = <hour> (o'clock | <half>) | <hour> <minute> [<half>] | half past <hour> | quarter (past | to) <hour>;
<hour> = one | two | three | four | five | six | seven | eight | nine | ten | eleven | twelve;
<minute> = oh <digit> | <teen> | (twenty | thirty | forty | fifty) [<digit>];
<half> = a.m. | p.m. | in the (morning | afternoon | evening) | at night;

<date> = [on] (<weekday> [the <ordinal> [of <month>]] | <month> [the] <ordinal> | the <ordinal> of <month>)
  | today | tomorrow | yesterday | (this | next | last) (week | month | year | weekend | <weekday>)
  | in (a (minute | hour | day | week | month) | <many> (minutes | hours | days | weeks | months));
<weekday> = monday | tuesday | wednesday | thursday | friday | saturday | sunday;
<month> = january | february | march | april | may | june | july | august | september | october | november | december;
<ordinal> = first | second | third | fourth | fifth | sixth | seventh | eighth | ninth | tenth | eleventh | twelfth
  | thirteenth | fourteenth | fifteenth | sixteenth | seventeenth | eighteenth | nineteenth | twentieth | thirtieth
  | (twenty | thirty) (first | second | third | fourth | fifth | sixth | seventh | eighth | ninth);

<home> = (turn | switch) (on | off) <device> | (dim | brighten) <lights> | set <lights> to <tens> percent
  | (open | close) <opening> | (lock | unlock) <door> | is <door> (open | closed | locked | unlocked)
  | set the (temperature | thermostat | heating) to <many> [degrees]
  | turn (up | down) the (heating | temperature | volume) | make it (warmer | cooler | brighter | darker)
  | (start | stop) the (vacuum | dishwasher | coffee machine | washing machine);
<room> = kitchen | bedroom | bathroom | garage | office | hallway | living room | dining room | garden;
<lights> = (the | all the) [<room>] lights | the [<room>] (light | lamp);
<device> = <lights> | the (fan | heater | heating | television | t v | radio | music | alarm | air conditioning | coffee machine);
<opening> = <door> | the (blinds | curtains | window | windows | gate);
<door> = the [front | back | garage] door;

<media> = (play | pause | stop | resume) the (music | song | video | radio) | play | pause | resume
  | (next | previous) (song | track) | skip this song | play some (jazz | rock | classical | pop) [music]
  | volume (up | down) | louder | quieter | mute | set the volume to <tens> percent;

<timer> = set a timer for <duration> | (stop | cancel | pause) the (timer | alarm)
  | (set an alarm for | wake me up at) (<hour> | <clock>) | snooze
  | remind me (in <duration> | at <hour> | tomorrow | tonight) | how much time is left;
<duration> = one (second | minute | hour) | <many> (seconds | minutes | hours) | an hour | half an hour | an hour and a half;

<call> = (call | text | send (a message | an email) to) <person> | (answer | ignore | end) the call | hang up
  | read my (messages | email);
<person> = mom | mum | dad | home | the office | my (wife | husband | mother | father | brother | sister | boss)
  | the doctor | john | mary | david | anna | peter | sarah | michael | emma;

<go> = (turn | go | look) (left | right) | turn around | go (forward | back | straight | home | up | down)
  | go (forward | back) <many> (meters | steps) | (take me | navigate | drive) (home | to <place>) | where am i
  | find the nearest (restaurant | gas station | hotel | pharmacy | supermarket | parking);
<place> = work | school | the (airport | station | office | hospital | city center | beach);

<screen> = (open | show me) (the | my) (settings | menu | calendar | messages | camera | map | photos)
  | scroll (up | down) | (next | previous) page | zoom (in | out) | (save | delete | copy | print) this | select all
  | take a (picture | photo | screenshot) | log (in | out);

<question> = what time is it | what's the (time | date | temperature) | what day is it | what's the weather [today | tomorrow]
  | will it rain (today | tomorrow) | how are you | what's on my calendar [today | tomorrow] | who is (calling | at the door)
  | tell me (a joke | the news) | what can i say;
`;

// What `local/commands-fr` listens for. A word outside it is never heard: add it here, with a sample in test/fixtures/audio.
/** JSGF: one command, number, time, date or answer a turn. */
export const COMMANDS_FR = `#JSGF V1.0 UTF-8 fr;
grammar commands_fr;

public <tour> = <réponse> | <nombre> | <moment> | <date> | <question> | <action> [s'il vous plaît | s'il te plaît];

<action> = <maison> | <médias> | <minuteur> | <appel> | <aller> | <écran>;

<réponse> = oui | non | non merci | d'accord | merci | merci beaucoup | bonjour | bonsoir | bonne nuit | au revoir | aide | annule
  | arrête | commence | continue | répète | encore | jamais | peut être | c'est (juste | faux) | attends | stop | pardon;

<nombre> = (zéro | <cent> | <centaines> | <milliers>) [pour cent | degrés | euros];
<unité> = deux | trois | quatre | cinq | six | sept | huit | neuf;
<dix> = dix | onze | douze | treize | quatorze | quinze | seize | dix sept | dix huit | dix neuf;
<vingt> = (vingt | trente | quarante | cinquante | soixante) [et un | <unité>]
  | soixante (et onze | <dix>) | quatre vingt [un | <unité> | <dix>];
<beaucoup> = <unité> | <dix> | <vingt>;
<cent> = un | <beaucoup>;
<centaines> = [<unité>] cent [<cent>];
<milliers> = [<beaucoup> | <centaines>] mille [<cent> | <centaines>];

<moment> = [à] <heure> | midi | minuit;
<heure> = une heure [<minutes>] | (<unité> | dix | onze | douze) heures [<minutes>] [du matin | de l'après midi | du soir];
<minutes> = cinq | dix | et quart | vingt | vingt cinq | et demie | trente | quarante cinq | moins (le quart | dix | vingt);

<date> = <jour> | [<jour>] le (premier | <beaucoup>) <mois> | aujourd'hui | demain | hier | après demain
  | (cette semaine | ce week-end | la semaine prochaine | le mois prochain | <jour> prochain)
  | dans (une (minute | heure | semaine) | <beaucoup> (minutes | heures | jours | semaines | mois));
<jour> = lundi | mardi | mercredi | jeudi | vendredi | samedi | dimanche;
<mois> = janvier | février | mars | avril | mai | juin | juillet | août | septembre | octobre | novembre | décembre;

<maison> = (allume | éteins) <appareil> | (ouvre | ferme) <ouverture> | (verrouille | déverrouille) la porte
  | (monte | baisse) (le chauffage | la température | le volume) | mets (la température | le chauffage) à <beaucoup> degrés;
<appareil> = (la lumière | les lumières) [<pièce>] | la (lampe | télévision | radio | musique) | le (ventilateur | chauffage)
  | la machine à café | l'alarme;
<pièce> = de la (cuisine | chambre) | du (salon | bureau | garage | jardin);
<ouverture> = la porte [du garage | du jardin] | la fenêtre | les volets | les rideaux | le portail;

<médias> = (joue | arrête | mets) de la musique | (arrête | mets) (la musique | la vidéo | la radio) | pause | lecture
  | (chanson | piste) (suivante | précédente) | plus fort | moins fort | silence | mets le volume à <beaucoup> pour cent;

<minuteur> = mets un minuteur de <durée> | (arrête | annule) (le minuteur | l'alarme | le réveil)
  | (mets une alarme à | réveille moi à) <heure> | rappelle moi (dans <durée> | demain | ce soir);
<durée> = une (seconde | minute | heure) | <beaucoup> (secondes | minutes | heures) | une demi heure;

<appel> = (appelle | envoie un message à) <personne> | (réponds | raccroche) | lis mes messages;
<personne> = maman | papa | la maison | le bureau | le médecin | ma (femme | soeur | mère) | mon (mari | frère | père) | marie
  | jean | pierre | paul | anne | sophie;

<aller> = (tourne | va) à (gauche | droite) | va tout droit | demi tour | avance [de <beaucoup> mètres] | recule
  | va (en haut | en bas | à la maison) | où suis je | trouve (un restaurant | un hôtel | une pharmacie | une station);

<écran> = (ouvre | montre moi) (les réglages | le menu | le calendrier | les messages | la carte | les photos)
  | page (suivante | précédente) | retour | prends une photo | déconnexion;

<question> = quelle heure est il | quel jour sommes nous | quel temps fait il [aujourd'hui | demain] | comment vas tu
  | est ce qu'il va pleuvoir [demain] | qui est là;
`;

// What `local/digits-en` listens for: digits one by one, as in telephone and card numbers.
/** JSGF. */
export const DIGITS_EN = `#JSGF V1.0;
grammar digits_en;

public <digits> = (zero | oh | one | two | three | four | five | six | seven | eight | nine)+;
`;

export const BUILT_IN_GRAMMARS: ReadonlyMap<string, string> = new Map([
  ['commands-en', COMMANDS_EN],
  ['commands-fr', COMMANDS_FR],
  ['digits-en', DIGITS_EN],
]);
